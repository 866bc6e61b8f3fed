import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { mapOf, RowsInput, type Rows } from "../../parts/record/rows-input.tsx";

const STATES = ["submitted", "delivered", "expired", "cancelled", "undelivered", "unknown", "rejected"];

const WORDS: Rows = {
  columns: [
    { name: "state", label: t("State"), options: STATES.map((value) => ({ value, label: value })) },
    { name: "word", label: "stat" },
  ],
  starts: { state: "undelivered", word: "" },
  add: t("Add word"),
  ...mapOf("state", "word"),
};

const ERRORS: Rows = {
  columns: [
    { name: "code", label: t("Error code"), placeholder: "027" },
    { name: "error", label: "err", placeholder: "068" },
  ],
  starts: { code: "", error: "" },
  add: t("Add code"),
  ...mapOf("code", "error"),
};

export const ReceiptWordsInput = (props: OwnInputProps) => <RowsInput {...props} rows={WORDS} name="receiptWords" />;
export const ReceiptErrorsInput = (props: OwnInputProps) => <RowsInput {...props} rows={ERRORS} name="receiptErrors" />;
