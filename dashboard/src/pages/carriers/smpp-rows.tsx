import { t } from "../../i18n/t.ts";
import type { Option, OwnInputProps } from "../../parts/record/field.ts";
import { mapOf, RowsInput, type Rows } from "../../parts/record/rows-input.tsx";

const asOptions = (words: readonly string[]): Option[] => words.map((value) => ({ value, label: value }));

/** TLV tags in hexadecimal, as in carriers' manuals. */
const hex = (tag: number | string): string =>
  typeof tag === "number" ? `0x${tag.toString(16).toUpperCase().padStart(4, "0")}` : tag;

const TYPES = asOptions(["octets", "cstring", "uint8", "uint16", "uint32"]);
const LITERAL = "literal";

interface Tlv {
  tag: number | string;
  type: string;
  source: string | { literal: string };
}

const TLVS: Rows = {
  columns: [
    { name: "tag", label: t("Tag"), placeholder: "0x1400" },
    { name: "type", label: t("Format"), options: TYPES },
    {
      name: "source",
      label: t("Value"),
      options: [
        { value: "template.dltEntityId", label: t("Template entity ID") },
        { value: "template.dltContentId", label: t("Template content ID") },
        { value: "chainHash", label: t("Chain hash") },
        { value: LITERAL, label: t("Constant") },
      ],
    },
    { name: "literal", label: t("Constant"), when: ({ source }) => source === LITERAL },
  ],
  starts: { tag: "", type: "cstring", source: "template.dltEntityId", literal: "" },
  add: t("Add parameter"),
  read: (value) =>
    ((value ?? []) as Tlv[]).map(({ tag, type, source }) =>
      typeof source === "string"
        ? { tag: hex(tag), type, source, literal: "" }
        : { tag: hex(tag), type, source: LITERAL, literal: source.literal },
    ),
  write: (rows) =>
    rows.map(({ tag, type, source, literal }) => ({
      tag,
      type,
      source: source === LITERAL ? { literal: literal ?? "" } : source,
    })),
  faultPath: (place, column) => `tlvs[${place}].${column}`,
};

const RECEIPT_TLVS: Rows = {
  columns: [
    { name: "tag", label: t("Tag"), placeholder: "0x1401" },
    { name: "type", label: t("Format"), options: TYPES },
    {
      name: "field",
      label: t("Meaning"),
      options: [
        { value: "operator", label: t("Operator") },
        { value: "circle", label: t("Circle") },
      ],
    },
  ],
  starts: { tag: "", type: "cstring", field: "operator" },
  add: t("Add parameter"),
  read: (value) =>
    ((value ?? []) as { tag: number; type: string; field: string }[]).map((each) => ({
      ...each,
      tag: hex(each.tag),
    })),
  write: (rows) => rows,
  faultPath: (place, column) => `receiptTlvs[${place}].${column}`,
};

const STATUS_POLICY: Rows = {
  columns: [
    { name: "status", label: "command_status", placeholder: "0x45" },
    {
      name: "meaning",
      label: t("Meaning"),
      options: [
        { value: "retry", label: t("Try again later") },
        { value: "refuse", label: t("Fail the message") },
        { value: "carrier", label: t("Use another carrier") },
      ],
    },
  ],
  starts: { status: "", meaning: "retry" },
  add: t("Add status"),
  ...mapOf("status", "meaning"),
};

const ERROR_TEXTS: Rows = {
  columns: [
    { name: "code", label: t("Code"), placeholder: "027" },
    { name: "words", label: t("Meaning"), placeholder: t("The phone is switched off") },
  ],
  starts: { code: "", words: "" },
  add: t("Add code"),
  ...mapOf("code", "words"),
};

export const TlvsInput = (props: OwnInputProps) => <RowsInput {...props} rows={TLVS} name="tlvs" />;
export const ReceiptTlvsInput = (props: OwnInputProps) => (
  <RowsInput {...props} rows={RECEIPT_TLVS} name="receiptTlvs" />
);
export const StatusPolicyInput = (props: OwnInputProps) => (
  <RowsInput {...props} rows={STATUS_POLICY} name="statusPolicy" />
);
export const ErrorTextsInput = (props: OwnInputProps) => <RowsInput {...props} rows={ERROR_TEXTS} name="errorTexts" />;
