import { layoutOfContacts } from "../../campaigns/copy-segment.ts";
import { isUuid, newId } from "../../lib/ids.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isPlainText } from "../../lib/text.ts";
import {
  AUDIENCE_FAILURES,
  AUDIENCE_FILE_MS,
  AUDIENCE_STATES,
  ROW_FAULTS,
  type Audience,
  type AudienceMapping,
  type AudienceRecipient,
  type RowFault,
} from "../../model/audience.ts";
import type { ContactFilter } from "../../model/contact.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { bookOf, findSegment } from "./contacts.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const NAME_MAX = 100;
const COLUMN_MAX = 100;
const VARIABLES_MAX = 50;
const PART_BYTES_MAX = 1_048_576;
const MIB = 1_048_576;

function view(audience: Audience): object {
  const { id, name, test, state, size, received, checked, layout, rows, recipients, faults, optedOut } = audience;
  const { failure, createdAt, endedAt, hasFile, segment } = audience;
  return {
    id,
    name,
    test,
    segment: segment?.name ?? null,
    state,
    size,
    received,
    // The bytes of a spreadsheet's CSV are counted, and these may be more.
    checked: Math.min(checked, size),
    sheet: audience.sheet,
    sheets: layout?.sheets ?? null,
    columns: layout && layout.columns.length > 0 ? layout.columns : null,
    mapping: mappingOf(audience),
    rows,
    recipients,
    faults,
    duplicates: rows - faults - recipients,
    optedOut,
    failure: failure && { code: failure, message: AUDIENCE_FAILURES[failure] },
    createdAt,
    endedAt,
    fileUntil: hasFile && endedAt !== null ? endedAt + AUDIENCE_FILE_MS : null,
  };
}

/** The columns that were recognised, or those that the caller named. */
function mappingOf({ layout, mapping }: Audience): AudienceMapping | null {
  const number = layout?.columns[layout.number];
  if (!layout || number === undefined) return mapping;
  const variables = layout.variables.map(({ name, column }) => [name, layout.columns[column] ?? ""] as const);
  return { number, variables: Object.fromEntries(variables) };
}

async function find({ store }: Pick<Services, "store">, { params, caller }: Finding): Promise<Audience> {
  const { id = "" } = params;
  const audience = isUuid(id) ? await store.findAudience({ accountId: caller.account.id, id }) : null;
  if (!audience || (seesTestsOnly(caller) && !audience.test))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no audience with this id." });
  return audience;
}

type Finding = Pick<AuthenticCall, "params" | "caller">;

async function create(
  services: Services,
  { body, caller }: WithBody<AuthenticCall, typeof NewAudience>,
): Promise<object> {
  const { store, clock, audienceLimits } = services;
  const { bytesMax, filesMax, countMax } = audienceLimits;
  const { size = 0, segment } = body;
  if (size > bytesMax)
    throw new Problem("INVALID_REQUEST", {
      faults: [
        { parameter: "size", message: `A file has at most ${bytesMax / MIB} MiB (HELIOGRAPH_AUDIENCE_MAX_MB).` },
      ],
    });
  const { id: accountId } = caller.account;
  const { count: stored, fileBytes } = await store.countAudiences(accountId);
  if (stored >= countMax) throw new Problem("TOO_MANY_AUDIENCES");
  if (fileBytes + size > filesMax)
    throw new Problem("TOO_MANY_AUDIENCES", {
      message: `All stored files have at most ${filesMax / MIB} MiB (HELIOGRAPH_AUDIENCE_STORED_MB), and those of the account have ${Math.ceil(fileBytes / MIB)}: delete audiences, or wait until files are removed, 24 hours after their check.`,
    });
  const now = clock.now();
  const audience: Audience = {
    accountId,
    id: newId(now),
    test: seesTestsOnly(caller),
    name: body.name,
    state: segment === undefined ? "uploading" : "checking",
    size,
    received: 0,
    checked: 0,
    sheet: body.sheet ?? null,
    mapping: body.mapping ?? null,
    layout: segment === undefined ? null : layoutOfContacts(await store.listContactAttributes(bookOf(caller))),
    rows: 0,
    recipients: 0,
    faults: 0,
    optedOut: 0,
    failure: null,
    createdAt: now,
    endedAt: null,
    hasFile: segment === undefined,
    segment: segment === undefined ? null : { name: segment, filter: await segmentFilter(services, caller, segment) },
  };
  await store.addAudience(audience);
  return view(audience);
}

async function segmentFilter(
  services: Services,
  caller: AuthenticCall["caller"],
  segment: string,
): Promise<ContactFilter> {
  const filter = await findSegment(services, caller, segment);
  if (filter) return filter;
  const message = "There is no segment of this name: GET /api/segments lists them.";
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "segment", message }] });
}

async function addPart(services: Services, call: WithBody<AuthenticCall, typeof Part>): Promise<object> {
  const { store } = services;
  const audience = await find(services, call);
  const { offset, text, base64 } = call.body;
  const content = text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text, "utf8");
  const parameter = text === undefined ? "base64" : "text";
  if (content.length > PART_BYTES_MAX)
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter, message: `A part has at most ${PART_BYTES_MAX} bytes: upload the file in several parts.` }],
    });
  if (content.length === 0)
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter, message: "A part has at least one byte." }] });
  const end = offset + content.length;
  const isKnown = end <= audience.received;
  if (!isKnown && (end > audience.size || !(await store.addAudiencePart(audience, { offset, content }))))
    throw new Problem("UPLOAD_OFFSET_MISMATCH", {
      message: `The upload has ${audience.received} of ${audience.size} bytes: continue at that offset.`,
    });
  return view(await find(services, call));
}

async function change(services: Services, call: WithBody<AuthenticCall, typeof AudienceChange>): Promise<object> {
  const { store } = services;
  const audience = await find(services, call);
  const { name, mapping, sheet = audience.sheet } = call.body;
  const isOtherSheet = sheet !== audience.sheet;
  if (mapping || isOtherSheet) {
    if (isOtherSheet) refuseFaults(unknownSheet(audience, sheet));
    else if (mapping) refuseFaults(unknownColumns(audience, mapping));
    await refuseInUse(services, audience);
    // Another sheet has other columns.
    const columns = { mapping: mapping ?? null, sheet };
    if (!(await store.mapAudience(audience, columns))) throw new Problem("AUDIENCE_FILE_GONE");
  }
  if (name !== undefined) await store.renameAudience(audience, name);
  return view(await find(services, call));
}

/** A campaign that has begun continues at a row, which another mapping could give another recipient. */
async function refuseInUse({ store }: Services, { accountId, id }: Audience): Promise<void> {
  const campaign = await store.findCampaignOfAudience(accountId, id);
  if (campaign === null) return;
  const message = `The campaign ${JSON.stringify(campaign)} needs this audience: cancel it or wait for its end.`;
  throw new Problem("RECORD_IN_USE", { message });
}

/** Sheets are known once the workbook was read. */
function unknownSheet({ layout }: Audience, sheet: string | null): Fault[] {
  const sheets = layout?.sheets;
  if (!layout || sheet === null || sheets?.includes(sheet)) return [];
  const message = sheets
    ? `A sheet of the workbook: ${sheets.map((each) => JSON.stringify(each)).join(", ")}.`
    : "Only a workbook (XLSX) has sheets.";
  return [{ parameter: "sheet", message }];
}

/** Columns are known once the first row was read. */
function unknownColumns({ layout }: Audience, { number, variables }: AudienceMapping): Fault[] {
  if (!layout) return [];
  const rule = `A column of the file: ${layout.columns.map((column) => JSON.stringify(column)).join(", ")}.`;
  const named = [
    ["mapping.number", number],
    ...Object.entries(variables ?? {}).map(([name, column]) => [`mapping.variables.${name}`, column]),
  ];
  return named.flatMap(([parameter = "", column = ""]) =>
    layout.columns.includes(column) ? [] : [{ parameter, message: rule }],
  );
}

async function remove(services: Services, call: AuthenticCall): Promise<object> {
  const audience = await find(services, call);
  await refuseInUse(services, audience);
  if (!(await services.store.removeAudience(audience))) throw new Problem("RECORD_NOT_FOUND");
  return view(audience);
}

async function erase({ store }: Services, { params, caller }: AuthenticCall): Promise<object> {
  const number = readNumber(params.number ?? "");
  if (number === null)
    throw new Problem("INVALID_REQUEST", {
      faults: [
        { parameter: "number", message: "Write the number internationally: country code first, 7 to 15 digits." },
      ],
    });
  const { id: accountId } = caller.account;
  const unchecked = await store.countUncheckedAudiences(accountId);
  return { audiences: await store.eraseFromAudiences(accountId, number), unchecked };
}

function readPage(query: AuthenticCall["query"], isCursor: (cursor: string) => boolean, faults: Fault[] = []): number {
  const limit = readLimit(query, faults);
  if (query.cursor !== undefined && !isCursor(query.cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  return limit;
}

const isRow = (cursor: string): boolean => /^\d{1,9}$/.test(cursor);

const nameField = Type.String({
  minLength: 1,
  maxLength: NAME_MAX,
  description: "Name of the audience.",
  check: (name) =>
    name.trim() !== "" && isPlainText(name) ? null : `name is plain text of 1 to ${NAME_MAX} characters.`,
});

const column = (description: string) => Type.String({ minLength: 1, maxLength: COLUMN_MAX, description });

const MappingBody = Type.Object(
  {
    number: column("Column of the phone number, by its name in the first row; by its place from 1 without a header."),
    variables: Type.Optional(
      Type.Record(column("Column of the variable."), {
        description: `Variables by name, each with its column, at most ${VARIABLES_MAX}. Without it, every other column is a variable under its own name.`,
        check: (variables) => variablesFault(Object.keys(variables)),
      }),
    ),
  },
  { description: "The columns of the file. Without it they are recognised." },
);

function variablesFault(names: readonly string[]): string | null {
  if (names.length > VARIABLES_MAX) return `An audience has at most ${VARIABLES_MAX} variables.`;
  const isName = (name: string): boolean => name.length <= COLUMN_MAX && name.trim() !== "" && isPlainText(name);
  return names.every(isName) ? null : `The name of a variable is plain text of 1 to ${COLUMN_MAX} characters.`;
}

const sheetField = nullable(
  Type.String({ minLength: 1, maxLength: 100 }),
  "Sheet of a workbook (XLSX) by its name; null for the first visible one.",
);

const NewAudience = Type.Object({
  name: nameField,
  size: Type.Optional(Type.Integer({ minimum: 1, description: "Bytes of the file." })),
  sheet: Type.Optional(sheetField),
  mapping: Type.Optional(MappingBody),
  segment: Type.Optional(
    Type.String({ minLength: 1, description: "Name of a segment, whose contacts are copied, instead of a file." }),
  ),
});

type NewFields = Partial<Infer<typeof NewAudience>>;

/** Either a file or a segment. */
function sourceFaults({ right, wrong }: { right: NewFields; wrong: ReadonlySet<string> }): Fault[] {
  const has = (field: "size" | "segment" | "mapping"): boolean => right[field] !== undefined || wrong.has(field);
  if (has("size") === has("segment")) return [{ parameter: "size", message: "Give either size or segment." }];
  if (!has("segment") || !has("mapping")) return [];
  return [{ parameter: "mapping", message: "A segment has no columns to map: leave mapping out." }];
}

const AudienceChange = Type.Object({
  name: Type.Optional(nameField),
  sheet: Type.Optional(sheetField),
  mapping: Type.Optional(MappingBody),
});

const Part = Type.Object({
  offset: Type.Integer({ minimum: 0, description: "Position of the part's first byte in the file." }),
  text: Type.Optional(Type.String({ description: "The part as text, stored in UTF-8." })),
  base64: Type.Optional(
    Type.String({
      description: "The part in base64, instead of `text`. A part may end anywhere, also within a character.",
      check: (written) =>
        /^[A-Za-z0-9+/]*={0,2}$/.test(written) ? null : "base64 holds the bytes of the part in base64.",
    }),
  ),
});

type PartFields = Partial<Infer<typeof Part>>;

/** Exactly one of the two forms. */
const partFaults = ({ right, wrong }: { right: PartFields; wrong: ReadonlySet<string> }): Fault[] => {
  const has = (field: "text" | "base64"): boolean => right[field] !== undefined || wrong.has(field);
  return has("text") === has("base64") ? [{ parameter: "text", message: "Give either text or base64." }] : [];
};

const count = (description: string) => Type.Integer({ description });

const AudienceView = Type.Object(
  {
    id: Type.String({ description: "Audience ID." }),
    name: Type.String({ description: "Its name." }),
    test: Type.Boolean({ description: "True if it was created with a test key." }),
    segment: nullable(Type.String(), "Segment whose contacts it has, as they were at its creation; null for a file."),
    state: Type.Union(
      AUDIENCE_STATES.map((state) => Type.Literal(state)),
      {
        description:
          "uploading: parts are missing. checking: rows are read. ready: it can be sent to. failed: `failure` has the reason.",
      },
    ),
    size: count("Bytes of the file."),
    received: count("Bytes that were uploaded: the offset of the next part."),
    checked: count("Bytes that were checked."),
    sheet: nullable(Type.String(), "Chosen sheet of a workbook; null for the first visible one."),
    sheets: nullable(Type.Array(Type.String()), "Visible sheets of a workbook; null for CSV, and until it is read."),
    columns: nullable(Type.Array(Type.String()), "Columns of the file; null until its first row is read."),
    mapping: nullable(
      Type.Object({
        number: Type.String({ description: "Column of the phone number." }),
        variables: Type.Record(Type.String(), { description: "Variables by name, each with its column." }),
      }),
      "The columns that are used; null until they are recognised.",
    ),
    rows: count("Rows that were checked, without the header and empty rows."),
    recipients: count("Distinct numbers."),
    faults: count("Rows with a fault."),
    duplicates: count("Rows whose number an earlier row has; they are left out."),
    optedOut: count("Recipients that are on the opt-out list. They get no PROMO messages."),
    failure: nullable(
      Type.Object({
        code: Type.Union(
          Object.keys(AUDIENCE_FAILURES).map((code) => Type.Literal(code)),
          { description: "Reason." },
        ),
        message: Type.String({ description: "Reason and fix." }),
      }),
      "Reason why the file cannot be used; null otherwise.",
    ),
    createdAt: count("Epoch milliseconds."),
    endedAt: nullable(Type.Integer(), "End of the check; null before."),
    fileUntil: nullable(
      Type.Integer(),
      "Until when the columns can be mapped again; null before the check has ended and once the file is removed.",
    ),
  },
  { title: "Audience" },
);

const example = {
  id: EXAMPLE_ID,
  name: "Autumn sale",
  test: false,
  segment: null,
  state: "ready",
  size: 4_194_304,
  received: 4_194_304,
  checked: 4_194_304,
  sheet: null,
  sheets: null,
  columns: ["phone", "first name", "city"],
  mapping: { number: "phone", variables: { name: "first name" } },
  rows: 100_000,
  recipients: 99_120,
  faults: 212,
  duplicates: 668,
  optedOut: 1304,
  failure: null,
  createdAt: 1767225600000,
  endedAt: 1767225612000,
  fileUntil: 1767312012000,
};

const FaultView = Type.Object({
  row: count("Row of the file, from 1, counted with the header."),
  column: nullable(Type.String(), "Its column; null if the fault is of the whole row."),
  code: Type.Union(
    Object.keys(ROW_FAULTS).map((code) => Type.Literal(code)),
    { description: "Kind of fault." },
  ),
  message: Type.String({ description: "Requirement." }),
});

const RecipientView = Type.Object({
  row: count("Row of the file, from 1, counted with the header."),
  number: Type.String({ description: "Phone number without plus." }),
  variables: Type.Record(Type.String(), { description: "Values by the names of the variables." }),
  optedOut: Type.Boolean({ description: "On the opt-out list when the row was checked." }),
});

const faultView = ({ row, column: name, code }: RowFault): object => ({
  row,
  column: name,
  code,
  message: ROW_FAULTS[code],
});

const recipientView = ({ layout }: Audience, { row, number, values, optedOut }: AudienceRecipient): object => ({
  row,
  number,
  variables: Object.fromEntries((layout?.variables ?? []).map(({ name }, index) => [name, values[index] ?? ""])),
  optedOut,
});

const nextCursor = nullable(Type.String(), "Cursor of the next page; null on the last page.");
const changing = { family: "plain", scope: "sms", testKeys: "sms", group: "Audiences" } as const;
const reading = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Audiences" } as const;
const ofOne = {
  params: { id: { meaning: "Audience ID.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

export const audienceRoutes: readonly KeyedRoute[] = [
  keyedRoute({
    ...changing,
    method: "POST",
    path: "/v1/audiences",
    summary: "Create an audience",
    description:
      "Begins the upload of a CSV file or an XLSX workbook. Then send its bytes with `POST /v1/audiences/{id}/parts`. An upload that is not complete after 24 hours is removed. With `segment`, it copies the contacts of a segment instead: the name and the attributes are its variables.",
    status: 201,
    problems: ["TOO_MANY_AUDIENCES"],
    body: NewAudience,
    bodyFaults: sourceFaults,
    requestExamples: {
      "recognised columns": { name: "Autumn sale", size: 4_194_304 },
      "named columns": {
        name: "Autumn sale",
        size: 4_194_304,
        mapping: { number: "phone", variables: { name: "first name" } },
      },
    },
    response: AudienceView,
    responseExample: {
      ...example,
      state: "uploading",
      received: 0,
      checked: 0,
      columns: null,
      mapping: null,
      rows: 0,
      recipients: 0,
      faults: 0,
      duplicates: 0,
      optedOut: 0,
      endedAt: null,
      fileUntil: null,
    },
    handle: async (services, call) => {
      const created = await create(services, call);
      void call.reply.code(201);
      return created;
    },
  }),
  {
    ...reading,
    path: "/v1/audiences",
    summary: "List audiences",
    description: "Lists the audiences of the account, newest first. A test key sees those of test keys.",
    query: {
      state: { ...choiceParameter(AUDIENCE_STATES, "Only audiences in this state."), example: "ready" },
      ...pageParameters(EXAMPLE_ID),
    },
    response: Type.Object({
      data: Type.Array(AudienceView, { description: "Audiences on this page." }),
      nextCursor,
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: async ({ store }, { query, caller }) => {
      const faults: Fault[] = [];
      const state = AUDIENCE_STATES.find((known) => known === query.state);
      if (query.state !== undefined && !state)
        faults.push({ parameter: "state", message: `state is one of ${AUDIENCE_STATES.join(", ")}.` });
      const limit = readPage(query, isUuid, faults);
      const filter = { ...(seesTestsOnly(caller) && { test: true as const }), ...(state && { state }) };
      const { rows, next } = await store.listAudiences(caller.account.id, filter, query.cursor ?? null, limit);
      return { data: rows.map(view), nextCursor: next };
    },
  },
  {
    ...reading,
    ...ofOne,
    path: "/v1/audiences/:id",
    summary: "Get an audience",
    description: "Returns the state of an audience: `received` is the offset of the next part, `checked` the progress.",
    response: AudienceView,
    responseExample: example,
    handle: async (services, call) => view(await find(services, call)),
  },
  keyedRoute({
    ...changing,
    ...ofOne,
    method: "PATCH",
    path: "/v1/audiences/:id",
    summary: "Update an audience",
    description:
      "Renames an audience, maps its columns or chooses another sheet. With a `mapping` or a `sheet`, a file that was checked is checked again, up to 24 hours after its check.",
    problems: ["RECORD_NOT_FOUND", "AUDIENCE_FILE_GONE", "RECORD_IN_USE"],
    body: AudienceChange,
    requestExamples: { name: { name: "Autumn sale, north" }, "another sheet": { sheet: "North" } },
    response: AudienceView,
    responseExample: example,
    handle: change,
  }),
  {
    ...changing,
    ...ofOne,
    method: "DELETE",
    path: "/v1/audiences/:id",
    summary: "Delete an audience",
    description:
      "Deletes an audience with its file and its recipients, unless a scheduled, running or paused campaign needs it. Returns the deleted audience.",
    problems: ["RECORD_NOT_FOUND", "RECORD_IN_USE"],
    response: AudienceView,
    responseExample: example,
    handle: remove,
  },
  keyedRoute({
    ...changing,
    ...ofOne,
    method: "POST",
    path: "/v1/audiences/:id/parts",
    summary: "Upload a part of a file",
    description: `Adds bytes at \`offset\`, at most ${PART_BYTES_MAX.toLocaleString("en-US")} in one part. After an interruption, continue at \`received\`. A part that was received before is not stored again. The last part starts the check.`,
    problems: ["RECORD_NOT_FOUND", "UPLOAD_OFFSET_MISMATCH"],
    body: Part,
    requestExamples: { text: { offset: 0, text: "phone,first name\n15550100100,Ada\n" } },
    response: AudienceView,
    responseExample: { ...example, state: "checking", checked: 0, endedAt: null, fileUntil: null },
    audit: false,
    bodyFaults: partFaults,
    handle: addPart,
  }),
  {
    ...reading,
    ...ofOne,
    path: "/v1/audiences/:id/faults",
    summary: "List faults of an audience",
    description:
      "Lists the rows that are left out because of a fault, in the order of the file. The first 10,000 are stored.",
    query: pageParameters("17"),
    response: Type.Object({ data: Type.Array(FaultView, { description: "Faults on this page." }), nextCursor }),
    responseExample: {
      data: [{ row: 17, column: "phone", code: "INVALID_NUMBER", message: ROW_FAULTS.INVALID_NUMBER }],
      nextCursor: null,
    },
    handle: async (services, call) => {
      const limit = readPage(call.query, isRow);
      const audience = await find(services, call);
      const page = await services.store.listAudienceFaults(audience, Number(call.query.cursor ?? 0), limit);
      return { data: page.rows.map(faultView), nextCursor: page.next === null ? null : String(page.next) };
    },
  },
  {
    ...reading,
    ...ofOne,
    path: "/v1/audiences/:id/recipients",
    summary: "List recipients of an audience",
    description: "Lists the distinct numbers with their variables, in the order of the file.",
    query: pageParameters("17"),
    response: Type.Object({ data: Type.Array(RecipientView, { description: "Recipients on this page." }), nextCursor }),
    responseExample: {
      data: [{ row: 2, number: "15550100100", variables: { name: "Ada" }, optedOut: false }],
      nextCursor: null,
    },
    handle: async (services, call) => {
      const limit = readPage(call.query, isRow);
      const audience = await find(services, call);
      const page = await services.store.listAudienceRecipients(audience, Number(call.query.cursor ?? 0), limit);
      return {
        data: page.rows.map((recipient) => recipientView(audience, recipient)),
        nextCursor: page.next === null ? null : String(page.next),
      };
    },
  },
  {
    family: "plain",
    scope: "manage",
    testKeys: null,
    group: "Audiences",
    method: "DELETE",
    path: "/v1/audience-numbers/:number",
    summary: "Erase a number from audiences",
    description:
      "Removes a number from every audience of the account. Files that were checked are removed too, because a row with a fault may have the number. Files that are still uploaded or checked cannot be searched: repeat the request once `unchecked` is 0.",
    params: { number: { ...phoneParameter("Phone number."), example: "15550100100" } },
    problems: ["INVALID_REQUEST"],
    response: Type.Object({
      audiences: count("Audiences that had the number."),
      unchecked: count("Audiences whose file is still uploaded or checked."),
    }),
    responseExample: { audiences: 2, unchecked: 0 },
    handle: erase,
  },
];
