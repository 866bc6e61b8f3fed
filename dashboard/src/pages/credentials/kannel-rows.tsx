import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { RowsInput, type Rows } from "../../parts/record/rows-input.tsx";

/** The number in a text; another text stays as it is, and the server reports the error. */
const numberIn = (written: string): number | string =>
  /^\d{1,9}$/.test(written.trim()) ? Number(written.trim()) : written;

interface Service {
  keyword: string;
  getUrl?: string;
  postUrl?: string;
  maxMessages?: number;
  fakedSender?: string;
}

const SERVICES: Rows = {
  columns: [
    { name: "keyword", label: t("Keyword"), placeholder: "default" },
    {
      name: "method",
      label: t("Method"),
      options: ["GET", "POST"].map((value) => ({ value, label: value })),
    },
    { name: "url", label: t("URL"), placeholder: "https://…?phone=%p&text=%a" },
    { name: "maxMessages", label: t("Messages per reply"), placeholder: "1" },
    { name: "fakedSender", label: t("Sender of replies") },
  ],
  starts: { keyword: "default", method: "GET", url: "", maxMessages: "", fakedSender: "" },
  add: t("Add service"),
  read: (value) =>
    ((value ?? []) as Service[]).map(({ keyword, getUrl, postUrl, maxMessages, fakedSender }) => ({
      keyword,
      method: getUrl === undefined ? "POST" : "GET",
      url: getUrl ?? postUrl ?? "",
      maxMessages: maxMessages === undefined ? "" : String(maxMessages),
      fakedSender: fakedSender ?? "",
    })),
  write: (rows) =>
    rows.map(({ keyword = "", method, url = "", maxMessages = "", fakedSender = "" }) => ({
      keyword,
      [method === "POST" ? "postUrl" : "getUrl"]: url,
      ...(maxMessages !== "" && { maxMessages: numberIn(maxMessages) }),
      ...(fakedSender !== "" && { fakedSender }),
    })),
  faultPath: (place, column) => `services[${place}].${column === "url" ? "*" : column}`,
};

interface Definition {
  name: string;
  tag: number | string;
  type: string;
  length?: number;
}

const DEFINITIONS: Rows = {
  columns: [
    { name: "name", label: t("Name"), placeholder: "campaign" },
    { name: "tag", label: t("Tag"), placeholder: "0x1500" },
    {
      name: "type",
      label: t("Format"),
      options: ["octetstring", "nulterminated", "integer"].map((value) => ({ value, label: value })),
    },
    { name: "length", label: t("Length") },
  ],
  starts: { name: "", tag: "", type: "octetstring", length: "" },
  add: t("Add TLV"),
  read: (value) =>
    ((value ?? []) as Definition[]).map(({ name, tag, type, length }) => ({
      name,
      tag: String(tag),
      type,
      length: length === undefined ? "" : String(length),
    })),
  write: (rows) =>
    rows.map(({ name = "", tag = "", type = "", length = "" }) => ({
      name,
      tag: numberIn(tag),
      type,
      ...(length !== "" && { length: numberIn(length) }),
    })),
  faultPath: (place, column) => `tlvs[${place}].${column}`,
};

export const ServicesInput = (props: OwnInputProps) => <RowsInput {...props} rows={SERVICES} name="services" />;

export const TlvDefinitionsInput = (props: OwnInputProps) => <RowsInput {...props} rows={DEFINITIONS} name="tlvs" />;
