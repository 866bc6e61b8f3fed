import { isUuid } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { AUDIENCE_STATES, ROW_FAULTS } from "../../model/audience.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services } from "../route.ts";
import { AudienceChange, NewAudience, Part, partFaults, sourceFaults } from "./audiences/body.ts";
import { addPart, changeAudience, createAudience, PART_BYTES_MAX, removeAudience } from "./audiences/change.ts";
import { FaultView, faultView, RecipientView, recipientView } from "./audiences/rows.ts";
import { AudienceView, count, EXAMPLE_ID, exampleAudience as example, findAudience, viewOf } from "./audiences/view.ts";

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
      const created = await createAudience(services, call);
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
      return { data: rows.map(viewOf), nextCursor: next };
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
    handle: async (services, call) => viewOf(await findAudience(services, call)),
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
    handle: changeAudience,
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
    handle: removeAudience,
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
      const audience = await findAudience(services, call);
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
      const audience = await findAudience(services, call);
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
