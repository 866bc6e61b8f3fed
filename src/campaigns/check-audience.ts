import { numberOf } from "../channels/parse-number.ts";
import type { Clock } from "../lib/clock.ts";
import { LETTERS_AND_DIGITS, randomText } from "../lib/random.ts";
import { isShowable } from "../lib/text.ts";
import type { Account } from "../model/account.ts";
import {
  AUDIENCE_FILE_MS,
  UPLOAD_MS,
  type Audience,
  type AudienceFailure,
  type AudienceLayout,
  type AudienceRecipient,
  type RowFault,
} from "../model/audience.ts";
import type { AudienceWork } from "../store/audience-check.ts";
import type { AudienceStore } from "../store/audiences.ts";
import type { ContactStore } from "../store/contacts.ts";
import type { OptOutStore } from "../store/opt-outs.ts";
import type { Store } from "../store/store.ts";
import { copySegment } from "./copy-segment.ts";
import { delimiterOf, isZip, markLength, namedDelimiter, readRecord, unreadableFormat, type CsvRecord } from "./csv.ts";
import { COLUMNS_MAX, recogniseLayout } from "./layout.ts";
import { Conversions } from "./xlsx/conversions.ts";

export interface AudienceJobDeps {
  store: AudienceStore & Pick<OptOutStore, "areOptedOut"> & Pick<ContactStore, "listContacts"> & Pick<Store, "engine">;
  accountOf(accountId: number): Account | null;
  clock: Clock;
  rowsMax: number;
  /** Largest CSV that a spreadsheet may become. */
  bytesMax: number;
}

/** A process that stops working on an audience loses it to another one after this time. */
const CLAIM_MS = 10_000;
/** A run ends after this time, so that a shutdown waits for no whole file. */
const RUN_MS = 400;
/** The longest row. A longer one means that a quoted value does not end, or that the file has no line breaks. */
const ROW_BYTES_MAX = 262_144;
/** Rows from which the columns are recognised. */
const SAMPLE_ROWS = 50;
const VALUE_MAX = 1600;
/** Rows of a transaction. SQLite has one writer, and a send waits for the end of a transaction. */
const STEP_ROWS = { first: 200, min: 50, max: 2000 };
const STEP_MS = { sqlite: 5, postgres: 50 };
/** Contacts of a step: their attributes are in memory. */
const CONTACTS_MAX = 1000;
const HOUSEKEEPING_MS = 60_000;

/**
 * The job that checks uploaded files and removes deleted audiences. It works in short transactions, each with the rows and the
 * offset up to which the file is checked, so that any process continues after a crash. An audience is claimed by one process at a
 * time, and audiences take turns.
 */
export function createAudienceJob(deps: AudienceJobDeps): () => Promise<number | undefined> {
  const { store, clock } = deps;
  const claim = randomText(LETTERS_AND_DIGITS, 16);
  const conversions = new Conversions(deps);
  let stepRows = STEP_ROWS.first;
  let nextHousekeeping = 0;

  const until = (): number => clock.now() + CLAIM_MS;

  /** Works on one audience until it is done or the time is over. */
  async function work(given: AudienceWork): Promise<void> {
    const startedAt = clock.monotonic();
    const isInTime = (): boolean => clock.monotonic() - startedAt < RUN_MS;
    if (!given.isCleared || given.isDeleting) {
      let isClear: boolean | null;
      do isClear = await store.clearAudience(given, STEP_ROWS.max, until());
      while (isClear === false && isInTime());
      if (!isClear) return;
      if (given.isDeleting) await store.endRemoval(given);
      return;
    }
    if (given.audience.segment) return workThroughSegment(given, isInTime);
    const opened = await open(given, isInTime);
    if (!opened) return;
    let current = given;
    while (isInTime()) {
      const next = await step(current, opened);
      if (!next) return conversions.end(given.audience);
      current = next;
    }
  }

  /** The rows as CSV, or null if a spreadsheet is not converted yet, or cannot be. */
  async function open(given: AudienceWork, isInTime: () => boolean): Promise<AudienceRows | null> {
    const { audience } = given;
    const stored = { size: audience.size, bytesAt: (offset: number) => store.findAudienceBytes(audience, offset) };
    const start = (await stored.bytesAt(0)) ?? Buffer.alloc(0);
    if (!isZip(start)) return { file: new AudienceFile(stored), sheets: null };
    const converted = await conversions.advance(audience, isInTime);
    if (!converted) return null;
    const { sheets } = converted;
    if (!("failure" in converted)) return { file: new AudienceFile(inMemory(converted.csv)), sheets };
    await store.endCheck(given, { failure: converted.failure, layout: { ...NO_LAYOUT, sheets }, at: clock.now() });
    await conversions.end(audience);
    return null;
  }

  async function workThroughSegment(given: AudienceWork, isInTime: () => boolean): Promise<void> {
    for (let current: AudienceWork | null = given; current && isInTime();) current = await stepThroughSegment(current);
  }

  /** Copies the next contacts; null at the end, or if another process has the audience. */
  async function stepThroughSegment(given: AudienceWork): Promise<AudienceWork | null> {
    const copied = await copySegment(deps, given, { limit: Math.min(stepRows, CONTACTS_MAX), until: until() });
    if (!copied) return null;
    if ("failure" in copied) {
      await store.endCheck(given, { failure: copied.failure, layout: null, at: clock.now() });
      return null;
    }
    stepRows = nextStepRows(stepRows, copied.ms, STEP_MS[store.engine]);
    return copied.next;
  }

  /** Checks the next rows; null at the end of the file, or if another process has the audience. */
  async function step(given: AudienceWork, { file, sheets }: AudienceRows): Promise<AudienceWork | null> {
    const { audience } = given;
    const end = async (failure: AudienceFailure | null, layout: AudienceLayout | null = null): Promise<null> => {
      await store.endCheck(given, { failure, layout, at: clock.now() });
      return null;
    };
    const account = deps.accountOf(audience.accountId);
    // The account is loaded a moment later, or is gone.
    if (!account) return null;
    const isNumber = (value: string): boolean => numberOf(value, account.settings) !== null;
    let { layout, checked: from } = audience;
    let linesBefore = given.lines;
    if (from === 0 || !layout) {
      const start = await file.from(0);
      // The values of a spreadsheet are text already.
      const failure = sheets ? null : unreadableFormat(start);
      if (failure) return end(failure);
      const opened = openFile(start, file.isAtEnd, audience, isNumber);
      if (typeof opened === "string") return end(opened);
      if (opened.failure) return end(opened.failure, opened.layout);
      ({ layout, start: from } = opened);
      if (sheets) layout = { ...layout, sheets };
      linesBefore = opened.lines;
    }
    const bytes = await file.from(from);
    const delimiter = layout.delimiter.charCodeAt(0);
    const records: { line: number; record: CsvRecord }[] = [];
    let at = 0;
    let line = linesBefore;
    while (records.length < stepRows && at < bytes.length) {
      const record = readRecord(bytes, at, delimiter, file.isAtEnd);
      if (!record) break;
      line += 1;
      at = record.end;
      if (!isEmpty(record)) records.push({ line, record });
    }
    if (at === 0 && bytes.length > 0) return end(unendedRow(bytes));
    if (audience.rows + records.length > deps.rowsMax) return end("TOO_MANY_ROWS");
    const { recipients, faults } = await sortRows(records, layout, account, audience.test);
    const isDone = file.isAtEnd && at === bytes.length;
    const written = await store.addCheckedRows(given, {
      from: audience.checked,
      to: from + at,
      layout,
      linesBefore,
      lines: line,
      rows: records.length,
      recipients,
      faults,
      claimedUntil: until(),
    });
    if (!written) return null;
    stepRows = nextStepRows(stepRows, written.ms, STEP_MS[store.engine]);
    const rows = audience.rows + records.length;
    const current: AudienceWork = {
      ...given,
      lines: line,
      audience: { ...audience, layout, checked: from + at, rows, faults: audience.faults + faults.length },
    };
    if (!isDone) return current;
    return end(rows === 0 ? "EMPTY" : null);
  }

  async function sortRows(
    records: readonly { line: number; record: CsvRecord }[],
    layout: AudienceLayout,
    { id: accountId, settings }: Account,
    test: boolean,
  ): Promise<{ recipients: AudienceRecipient[]; faults: RowFault[] }> {
    const recipients: AudienceRecipient[] = [];
    const faults: RowFault[] = [];
    for (const { line, record } of records) {
      const read = readRow(line, record, layout, (value) => numberOf(value, settings));
      if ("code" in read) faults.push(read);
      else recipients.push(read);
    }
    const optedOut = await store.areOptedOut(recipients.map(({ number }) => ({ accountId, number, test })));
    return {
      recipients: recipients.map((recipient, index) => ({ ...recipient, optedOut: optedOut[index] ?? false })),
      faults,
    };
  }

  return async () => {
    const now = clock.now();
    if (now >= nextHousekeeping) {
      nextHousekeeping = now + HOUSEKEEPING_MS;
      await store.releaseAudienceFiles(now - AUDIENCE_FILE_MS, now - UPLOAD_MS);
    }
    const next = await store.claimAudience(claim, now, until());
    if (!next) return undefined;
    await work(next);
    // A short rest, in which sends find the writer free.
    return 5;
  };
}

interface OpenedFile {
  layout: AudienceLayout;
  /** Offset of the first row with a recipient. */
  start: number;
  /** Lines before it. */
  lines: number;
  failure: AudienceFailure | null;
}

/** Reads the first rows: delimiter, header and columns. */
function openFile(
  bytes: Buffer,
  isWhole: boolean,
  { mapping }: Audience,
  isNumber: (value: string) => boolean,
): OpenedFile | AudienceFailure {
  const mark = markLength(bytes);
  const named = namedDelimiter(bytes, mark);
  const begin = named?.end ?? mark;
  const delimiter = named?.delimiter ?? delimiterOf(bytes, begin);
  const records: CsvRecord[] = [];
  for (let at = begin; at < bytes.length && records.length <= SAMPLE_ROWS;) {
    const record = readRecord(bytes, at, delimiter.charCodeAt(0), isWhole);
    if (!record) break;
    at = record.end;
    records.push(record);
  }
  const [first, ...rows] = records;
  if (!first) return bytes.length === begin ? "EMPTY" : unendedRow(bytes);
  const values = rows.filter((row) => !isEmpty(row)).map((row) => row.values);
  const { layout, failure } = recogniseLayout({ delimiter, first: first.values, rows: values, isNumber }, mapping);
  if (!layout) return failure ?? "TOO_MANY_COLUMNS";
  const lines = (named ? 1 : 0) + (layout.hasHeader ? 1 : 0);
  return { layout, failure, lines, start: layout.hasHeader ? first.end : begin };
}

/** The failure of a row that does not end within the longest row. */
const unendedRow = (bytes: Buffer): AudienceFailure => (bytes.includes('"') ? "UNENDED_QUOTE" : "ROW_TOO_LONG");

const isEmpty = ({ values }: CsvRecord): boolean => values.every((value) => value !== null && value.trim() === "");

/** The recipient of a row, or its first fault. */
function readRow(
  row: number,
  { values }: CsvRecord,
  layout: AudienceLayout,
  parse: (value: string) => string | null,
): AudienceRecipient | RowFault {
  const { columns } = layout;
  if (
    values.length > Math.max(columns.length, COLUMNS_MAX) ||
    values.slice(columns.length).some((value) => value !== "")
  )
    return { row, column: null, code: "TOO_MANY_VALUES" };
  const written = values[layout.number] ?? "";
  const column = columns[layout.number] ?? null;
  if (written.trim() === "") return { row, column, code: "NUMBER_MISSING" };
  const number = parse(written.trim());
  if (number === null) return { row, column, code: "INVALID_NUMBER" };
  const own: string[] = [];
  for (const { column: place } of layout.variables) {
    const value = place < values.length ? (values[place] ?? null) : "";
    if (value === null || !isShowable(value)) return { row, column: columns[place] ?? null, code: "VALUE_UNSHOWABLE" };
    if (value.length > VALUE_MAX) return { row, column: columns[place] ?? null, code: "VALUE_TOO_LONG" };
    own.push(value);
  }
  return { row, number, values: own, optedOut: false };
}

/** A failed file without columns. */
const NO_LAYOUT: AudienceLayout = { delimiter: ",", hasHeader: false, columns: [], number: -1, variables: [] };

interface AudienceRows {
  file: AudienceFile;
  /** Names of the sheets; null for a CSV file. */
  sheets: readonly string[] | null;
}

interface FileBytes {
  size: number;
  /** Some bytes from an offset on; null at the end. */
  bytesAt(offset: number): Promise<Buffer | null>;
}

function inMemory(pieces: readonly Buffer[]): FileBytes {
  const starts: number[] = [];
  let size = 0;
  for (const piece of pieces) {
    starts.push(size);
    size += piece.length;
  }
  return {
    size,
    bytesAt: async (offset) => {
      const index = starts.findLastIndex((start) => start <= offset);
      const rest = pieces[index]?.subarray(offset - (starts[index] ?? 0));
      return rest && rest.length > 0 ? rest : null;
    },
  };
}

/** The bytes of a CSV file, with one window of them in memory. */
class AudienceFile {
  readonly #bytes: FileBytes;
  #window = Buffer.alloc(0);
  #start = 0;

  constructor(bytes: FileBytes) {
    this.#bytes = bytes;
  }

  /** True if the window reaches to the end of the file. */
  get isAtEnd(): boolean {
    return this.#start + this.#window.length >= this.#bytes.size;
  }

  /** At least one row from an offset on, if the file has one there. */
  async from(offset: number): Promise<Buffer> {
    const kept = offset - this.#start;
    this.#window = kept >= 0 && kept <= this.#window.length ? this.#window.subarray(kept) : Buffer.alloc(0);
    this.#start = offset;
    while (!this.isAtEnd && this.#window.length < ROW_BYTES_MAX) {
      const more = await this.#bytes.bytesAt(this.#start + this.#window.length);
      if (!more) break;
      this.#window = Buffer.concat([this.#window, more]);
    }
    return this.#window;
  }
}

function nextStepRows(rows: number, ms: number, aimMs: number): number {
  const factor = Math.min(2, Math.max(0.25, aimMs / Math.max(ms, 0.01)));
  return Math.min(STEP_ROWS.max, Math.max(STEP_ROWS.min, Math.round(rows * factor)));
}
