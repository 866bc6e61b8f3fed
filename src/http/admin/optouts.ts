import { Type, type Infer } from "../../lib/schema.ts";
import { readNumber } from "../../model/number.ts";
import type { OptOut } from "../../model/opt-out.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import type { CheckedFields } from "../check-body.ts";
import { readLimit } from "../pagination.ts";
import { pageParameters, phoneParameter } from "../parameters.ts";
import { CountView, countView } from "../count.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { isPlainText } from "../../lib/text.ts";
import { nullable } from "./records.ts";

const NUMBERS_MAX = 1000;
const NOTE_MAX = 200;
/** Counting this many numbers takes about 15 ms. */
const COUNT_MAX = 100_000;
const BAD_NUMBER = "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.";

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

/** A field with a fault still shows which of the two the caller meant. */
function choiceFaults({ right, wrong }: CheckedFields<Infer<typeof AddBody>>): Fault[] {
  const isGiven = (field: "number" | "numbers"): boolean => right[field] !== undefined || wrong.has(field);
  return isGiven("number") === isGiven("numbers")
    ? [{ parameter: "number", message: "Give either number or numbers." }]
    : [];
}

async function add(
  { store, clock, stopGuard: stops }: Services,
  { body, caller }: WithBody<AuthenticCall, typeof AddBody>,
): Promise<object> {
  const written = body.numbers ?? [body.number ?? ""];
  const numbers = [...new Set(written.flatMap((each) => readNumber(each) ?? []))];
  const common = { accountId: caller.account.id, source: "manual", note: body.note ?? null } as const;
  await store.addOptOuts(numbers.map((number) => ({ ...common, number, createdAt: clock.now() })));
  await stops.waitUntilEffective({ accountId: caller.account.id, numbers });
  return { numbers };
}

async function find({ store }: Services, { params, caller }: AuthenticCall): Promise<OptOut> {
  const number = readNumber(params.number ?? "");
  if (number === null) throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "number", message: BAD_NUMBER }] });
  const optOut = await store.findOptOut(caller.account.id, number);
  if (!optOut) throw new Problem("RECORD_NOT_FOUND", { message: "The number is not on the opt-out list." });
  return optOut;
}

const BAD_NOTE = `note must be plain text of at most ${NOTE_MAX} characters.`;

/** Notes are shown to people, so they must be plain text. */
export const noteField = Type.String({
  maxLength: NOTE_MAX,
  description: "Note for your reference.",
  error: { maxLength: BAD_NOTE },
  check: (note) => (isPlainText(note) ? null : BAD_NOTE),
});

const phone = (description?: string) =>
  Type.String({
    format: "phone",
    ...(description !== undefined && { description }),
    check: (number) => (readNumber(number) === null ? BAD_NUMBER : null),
  });

const AddBody = Type.Object({
  number: Type.Optional(phone("One number.")),
  numbers: Type.Optional(
    Type.Array(phone(), {
      minItems: 1,
      maxItems: NUMBERS_MAX,
      description: "Several numbers, instead of `number`.",
    }),
  ),
  note: Type.Optional(noteField),
});

const OptOutView = Type.Object(
  {
    number: Type.String({ description: "Phone number without plus." }),
    source: Type.Union([Type.Literal("reply"), Type.Literal("manual")], {
      description: "reply: the recipient replied with a stop word. manual: added through the API or the dashboard.",
    }),
    note: nullable(Type.String(), "The reply, or the note given when it was added."),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
  },
  { title: "OptOut" },
);

const example = { number: "919876543210", source: "reply", note: "STOP", createdAt: 1767225600000 };
const common = { family: "plain", scope: "manage", testKeys: null, group: "Opt-outs" } as const;
const ofOne = {
  path: "/api/optouts/:number",
  params: { number: { ...phoneParameter("Phone number of the recipient."), example: example.number } },
  problems: ["INVALID_REQUEST", "RECORD_NOT_FOUND"],
  response: OptOutView,
  responseExample: example,
} as const;

export const optOutRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/optouts",
    summary: "List opt-outs",
    description:
      "Lists numbers that receive no PROMO messages of the account, sorted by number. TRANS and OTP messages are not affected.",
    query: pageParameters(example.number),
    response: Type.Object({
      data: Type.Array(OptOutView, { description: "Opt-outs on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: getList,
  },
  {
    ...common,
    method: "GET",
    path: "/api/optout-count",
    summary: "Count opt-outs",
    description: `Counts the numbers that receive no PROMO messages of the account, up to ${COUNT_MAX.toLocaleString("en")}.`,
    response: CountView,
    responseExample: { count: 1312, more: false },
    handle: async ({ store }, { caller }) =>
      countView(await store.countOptOuts(caller.account.id, COUNT_MAX + 1), COUNT_MAX),
  },
  keyedRoute({
    ...common,
    method: "POST",
    path: "/api/optouts",
    summary: "Add opt-outs",
    description:
      "Adds one or more numbers to the list. Numbers already listed stay unchanged. Once the response arrives, no node sends PROMO messages to them; with several nodes the response takes about a second.",
    body: AddBody,
    requestExamples: {
      one: { number: "919876543210", note: "Asked on the phone" },
      several: { numbers: ["919876543210", "+91 98765 43211"] },
    },
    response: Type.Object({
      numbers: Type.Array(Type.String(), {
        description: "Numbers without plus and without duplicates. All of them are now on the list.",
      }),
    }),
    responseExample: { numbers: ["919876543210"] },
    bodyFaults: choiceFaults,
    handle: add,
  }),
  {
    ...common,
    ...ofOne,
    method: "GET",
    summary: "Get an opt-out",
    description: "Returns the opt-out of a number, or 404 if it is not on the list.",
    handle: async (services, call) => optOutView(await find(services, call)),
  },
  {
    ...common,
    ...ofOne,
    method: "DELETE",
    summary: "Delete an opt-out",
    description:
      "Removes a number from the list, so that it receives PROMO messages again. Returns the deleted opt-out.",
    handle: async (services, call) => {
      const optOut = await find(services, call);
      if (!(await services.store.removeOptOut(optOut.accountId, optOut.number))) throw new Problem("RECORD_NOT_FOUND");
      return optOutView(optOut);
    },
  },
];
