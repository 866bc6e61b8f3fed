import type { ContactFilter } from "./contact.ts";

/** Lists of recipients: uploaded as a file, or the contacts of a segment. */

export const AUDIENCE_STATES = ["uploading", "checking", "ready", "failed"] as const;
export type AudienceState = (typeof AUDIENCE_STATES)[number];

/** The columns that hold the number and the variables, by the names in the file's first row. */
export interface AudienceMapping {
  /** Column of the phone number. */
  number: string;
  /** Variables by name, each with its column; absent: every other column under its own name. */
  variables?: Readonly<Record<string, string>> | undefined;
}

/** Delimiter, header and columns of a file. Columns are given by their place, from 0. */
export interface AudienceLayout {
  delimiter: string;
  hasHeader: boolean;
  columns: readonly string[];
  number: number;
  variables: readonly { name: string; column: number }[];
  /** Visible sheets of a workbook; absent for CSV. */
  sheets?: readonly string[];
}

export const AUDIENCE_FAILURES = {
  EMPTY: "The file has no rows with a recipient.",
  SPREADSHEET:
    "The spreadsheet cannot be read: it is in another format than XLSX, encrypted or damaged. Save it as XLSX or CSV (UTF-8).",
  SPREADSHEET_TOO_LARGE: "The spreadsheet is too large when it is unpacked: split it, or save it as CSV (UTF-8).",
  UNKNOWN_SHEET: "The workbook has no sheet of this name: see sheets.",
  NOT_UTF8: "The file is not UTF-8: save it as CSV (UTF-8) and upload that.",
  NO_NUMBER_COLUMN: "No column looks like phone numbers: name the column in mapping.number.",
  UNKNOWN_COLUMN: "The mapping names a column that the file does not have: see columns.",
  TOO_MANY_COLUMNS: "The file has more than 50 columns: remove those that no message needs.",
  TOO_MANY_ROWS: "The file has more rows than an audience may have: split it.",
  ROW_TOO_LONG: "A row has more than 256 KB: check that each recipient has a line.",
  NO_CONTACTS: "No contact matches the segment.",
  UNENDED_QUOTE: "A quoted value does not end: a quote inside a value is written twice.",
} as const;
export type AudienceFailure = keyof typeof AUDIENCE_FAILURES;

export const ROW_FAULTS = {
  NUMBER_MISSING: "The row has no number.",
  INVALID_NUMBER: "Write the number internationally: country code first, 7 to 15 digits.",
  TOO_MANY_VALUES: "The row has more values than the first row has columns: put values with a delimiter in quotes.",
  VALUE_TOO_LONG: "A value has at most 1600 characters.",
  VALUE_UNSHOWABLE: "The value contains bytes that are not UTF-8, or a NUL.",
} as const;
export type RowFaultCode = keyof typeof ROW_FAULTS;

export interface Audience {
  accountId: number;
  id: string;
  /** Uploaded with a test key. */
  test: boolean;
  name: string;
  state: AudienceState;
  /** Bytes of the whole file. */
  size: number;
  /** Bytes that were uploaded. */
  received: number;
  /** Bytes that were checked; for a segment, contacts that were read. */
  checked: number;
  /** The sheet of a workbook that the caller named; null for the first one. */
  sheet: string | null;
  /** The columns that the caller named; null to recognise them. */
  mapping: AudienceMapping | null;
  /** Null until the first row is read. */
  layout: AudienceLayout | null;
  /** Rows that were checked, without the header and empty ones. */
  rows: number;
  /** Distinct numbers. */
  recipients: number;
  faults: number;
  /** Recipients on the opt-out list when their row was checked. */
  optedOut: number;
  failure: AudienceFailure | null;
  createdAt: number;
  /** End of the check; null before. */
  endedAt: number | null;
  /** False once the uploaded file is removed; its recipients stay. */
  hasFile: boolean;
  /** The segment whose contacts it has, with the filter at its creation; null for a file. */
  segment: { name: string; filter: ContactFilter } | null;
}

/** A recipient of an audience with the values of its variables, in the order of the layout. */
export interface AudienceRecipient {
  /** Row of the file, from 1, counted with the header. */
  row: number;
  number: string;
  values: readonly string[];
  optedOut: boolean;
}

export interface RowFault {
  row: number;
  /** Null if the fault is of the whole row. */
  column: string | null;
  code: RowFaultCode;
}

/** Faults that are stored; further ones are only counted. */
export const STORED_FAULTS_MAX = 10_000;
/** The uploaded file is kept this long after its check, so that its columns can be mapped again. */
export const AUDIENCE_FILE_MS = 86_400_000;
/** An upload that is not complete by then is removed. */
export const UPLOAD_MS = 86_400_000;
