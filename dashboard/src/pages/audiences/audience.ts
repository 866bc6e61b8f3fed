import { t } from "../../i18n/t.ts";

export const AUDIENCES = "/v1/audiences";

/** An audience as the API returns it: the recipients of an uploaded file. */
export interface Audience {
  id: string;
  name: string;
  test: boolean;
  state: "uploading" | "checking" | "ready" | "failed";
  size: number;
  received: number;
  checked: number;
  sheet: string | null;
  /** Names in a workbook; null for CSV. */
  sheets: readonly string[] | null;
  columns: readonly string[] | null;
  mapping: { number: string; variables: Readonly<Record<string, string>> } | null;
  rows: number;
  recipients: number;
  faults: number;
  duplicates: number;
  optedOut: number;
  failure: { code: string; message: string } | null;
  createdAt: number;
  fileUntil: number | null;
}

export interface RowFault {
  row: number;
  column: string | null;
  code: string;
  message: string;
}

export interface Recipient {
  row: number;
  number: string;
  variables: Readonly<Record<string, string>>;
  optedOut: boolean;
}

export const STATE_WORDS: Readonly<Record<Audience["state"], string>> = {
  uploading: t("Uploading"),
  checking: t("Checking"),
  ready: t("Ready"),
  failed: t("Failed"),
};

export const STATE_COLORS: Readonly<Record<Audience["state"], string>> = {
  uploading: "blue",
  checking: "blue",
  ready: "green",
  failed: "red",
};

/** True while the file is being uploaded, in this browser or another, or checked. */
export const isMoving = ({ state }: Audience): boolean => state === "uploading" || state === "checking";

export const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 100);
