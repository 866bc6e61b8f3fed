import { Type } from "../../lib/schema.ts";
import { readNumber } from "../../model/number.ts";
import type { OptOut } from "../../model/opt-out.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { nullable } from "./records.ts";

const NUMBERS_MAX = 1000;
const NOTE_MAX = 200;
const BAD_NUMBER = "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.";

interface AddBody {
  number?: string;
  numbers?: string[];
  note?: string;
}

const optOutView = ({ number, source, note, createdAt }: OptOut): object => ({ number, source, note, createdAt });

async function getList({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  if (query.cursor !== undefined && readNumber(query.cursor) !== query.cursor)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  refuseFaults(faults);
  const { rows, next } = await store.listOptOuts(caller.account.id, query.cursor ?? null, limit);
  return { data: rows.map(optOutView), nextCursor: next };
}

/** The numbers that a request names, each once. */
function readNumbers({ number, numbers }: AddBody, faults: Fault[]): string[] {
  if ((number === undefined) === (numbers === undefined)) {
    faults.push({ parameter: "number", message: "Give either number or numbers." });
    return [];
  }
  const written = numbers ?? [number ?? ""];
  const read = written.map((each, index) => {
    const digits = readNumber(each);
    if (digits === null) faults.push({ parameter: numbers ? `numbers[${index}]` : "number", message: BAD_NUMBER });
    return digits ?? "";
  });
  return [...new Set(read)];
}

async function add({ store, clock }: Services, { body, caller }: AuthenticCall): Promise<object> {
  const given = body as AddBody;
  const faults: Fault[] = [];
  const numbers = readNumbers(given, faults);
  checkNote(given.note, faults);
  refuseFaults(faults);
  const common = { accountId: caller.account.id, source: "manual", note: given.note ?? null } as const;
  await store.addOptOuts(numbers.map((number) => ({ ...common, number, createdAt: clock.now() })));
  return { numbers };
}

/** A note is for people, and for a page that shows it. */
export function checkNote(note: string | undefined, faults: Fault[]): void {
  if (note === undefined || (isPlainText(note) && note.length <= NOTE_MAX)) return;
  faults.push({ parameter: "note", message: `note is plain text of at most ${NOTE_MAX} characters.` });
}

async function find({ store }: Services, { params, caller }: AuthenticCall): Promise<OptOut> {
  const number = readNumber(params.number ?? "");
  if (number === null) throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "number", message: BAD_NUMBER }] });
  const optOut = await store.findOptOut(caller.account.id, number);
  if (!optOut) throw new Problem("RECORD_NOT_FOUND", { message: "The number is not on the opt-out list." });
  return optOut;
}

export const noteField = Type.String({ maxLength: NOTE_MAX, description: "For people: why it is so." });

const OptOutView = Type.Object(
  {
    number: Type.String({ description: "Without plus." }),
    source: Type.Union([Type.Literal("reply"), Type.Literal("manual")], {
      description: "reply: the recipient answered with a stop word. manual: somebody put it on the list.",
    }),
    note: nullable(Type.String(), "The answer, or why somebody put it there."),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
  },
  { title: "OptOut" },
);

const example = { number: "919876543210", source: "reply", note: "STOP", createdAt: 1767225600000 };
const common = { family: "plain", scope: "manage", group: "Opt-outs" } as const;
const ofOne = {
  path: "/api/optouts/:number",
  params: { number: { meaning: "The recipient's number.", example: example.number } },
  problems: ["INVALID_REQUEST", "RECORD_NOT_FOUND"],
  response: OptOutView,
  responseExample: example,
} as const;

/** Who gets no promotions. */
export const optOutRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/optouts",
    summary: "List opt-outs",
    description: "Numbers that get no promotions of the account, by number. TRANS and OTP reach them all the same.",
    query: { cursor: "The nextCursor of the page before.", limit: "1 to 200, 50 unless given." },
    response: Type.Object({
      data: Type.Array(OptOutView, { description: "One page of opt-outs." }),
      nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: getList,
  },
  {
    ...common,
    method: "POST",
    path: "/api/optouts",
    summary: "Add opt-outs",
    description: "Puts one number or many on the list. What is there already stays as it is.",
    body: Type.Object({
      number: Type.Optional(Type.String({ description: "One number." })),
      numbers: Type.Optional(
        Type.Array(Type.String(), { minItems: 1, maxItems: NUMBERS_MAX, description: "Several, in its place." }),
      ),
      note: Type.Optional(noteField),
    }),
    requestExamples: {
      one: { number: "919876543210", note: "Asked on the phone" },
      several: { numbers: ["919876543210", "+91 98765 43211"] },
    },
    response: Type.Object({
      numbers: Type.Array(Type.String(), {
        description: "The numbers without plus, each once. All are on the list now.",
      }),
    }),
    responseExample: { numbers: ["919876543210"] },
    handle: add,
  },
  {
    ...common,
    ...ofOne,
    method: "GET",
    summary: "Read an opt-out",
    description: "Whether a number is on the list, and since when.",
    handle: async (services, call) => optOutView(await find(services, call)),
  },
  {
    ...common,
    ...ofOne,
    method: "DELETE",
    summary: "Remove an opt-out",
    description: "Takes a number off the list, so that it gets promotions again. Answers the opt-out as it was.",
    handle: async (services, call) => {
      const optOut = await find(services, call);
      if (!(await services.store.removeOptOut(optOut.accountId, optOut.number))) throw new Problem("RECORD_NOT_FOUND");
      return optOutView(optOut);
    },
  },
];
