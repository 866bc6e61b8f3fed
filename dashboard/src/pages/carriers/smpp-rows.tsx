import type { Option, OwnInputProps } from "../../parts/record/field.ts";
import { RowsInput, type Row, type Rows } from "../../parts/record/rows-input.tsx";

const asOptions = (words: readonly string[]): Option[] => words.map((value) => ({ value, label: value }));

/** Carriers write tags in hex, and so do we. */
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
    { name: "tag", label: "Tag", placeholder: "0x1400" },
    { name: "type", label: "Written as", options: TYPES },
    {
      name: "source",
      label: "Value",
      options: [
        { value: "template.dltEntityId", label: "Entity id of the template" },
        { value: "template.dltContentId", label: "Content id of the template" },
        { value: "chainHash", label: "Hash of the chain" },
        { value: LITERAL, label: "Always the same" },
      ],
    },
    { name: "literal", label: "The same", when: ({ source }) => source === LITERAL },
  ],
  starts: { tag: "", type: "cstring", source: "template.dltEntityId", literal: "" },
  add: "Add a parameter",
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
    { name: "tag", label: "Tag", placeholder: "0x1401" },
    { name: "type", label: "Written as", options: TYPES },
    {
      name: "field",
      label: "It tells",
      options: [
        { value: "operator", label: "The operator" },
        { value: "circle", label: "The circle" },
      ],
    },
  ],
  starts: { tag: "", type: "cstring", field: "operator" },
  add: "Add a parameter",
  read: (value) =>
    ((value ?? []) as { tag: number; type: string; field: string }[]).map((each) => ({
      ...each,
      tag: hex(each.tag),
    })),
  write: (rows) => rows,
  faultPath: (place, column) => `receiptTlvs[${place}].${column}`,
};

/** An object whose keys are codes, as rows. */
const mapOf = (from: string, to: string): Pick<Rows, "read" | "write"> => ({
  read: (value) => Object.entries((value ?? {}) as Row).map(([key, meaning]) => ({ [from]: key, [to]: meaning })),
  write: (rows) => Object.fromEntries(rows.map((row) => [row[from]?.trim() ?? "", row[to] ?? ""])),
});

const STATUS_POLICY: Rows = {
  columns: [
    { name: "status", label: "command_status", placeholder: "0x45" },
    {
      name: "meaning",
      label: "It means",
      options: [
        { value: "retry", label: "Try again later" },
        { value: "refuse", label: "The message is at fault" },
        { value: "carrier", label: "Take another carrier" },
      ],
    },
  ],
  starts: { status: "", meaning: "retry" },
  add: "Add a status",
  ...mapOf("status", "meaning"),
};

const ERROR_TEXTS: Rows = {
  columns: [
    { name: "code", label: "Code", placeholder: "027" },
    { name: "words", label: "It means", placeholder: "The phone is switched off" },
  ],
  starts: { code: "", words: "" },
  add: "Add a code",
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
