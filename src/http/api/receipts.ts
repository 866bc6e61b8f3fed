import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import { matchParked } from "../../messages/report.ts";
import { carrierKey, carrierNameOf } from "../../model/catalog.ts";
import { messageIdOf } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { maskNumber } from "../../model/verification.ts";
import type { ParkedFilter, UnmatchedReceipt } from "../../store/store.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

/** The largest that both engines count up to. */
const ID_MAX = 2_147_483_647;

/** A receipt's id as it is written in paths and cursors; null where it is none. */
const idOf = (written: string): number | null =>
  /^[1-9]\d{0,9}$/.test(written) && Number(written) <= ID_MAX ? Number(written) : null;

const AT_ONCE = 500;
/** So many are looked at in one request, which nobody should have to wait for. */
const LOOKED_AT_MAX = 5000;

const receiptView = ({ id, receipt, parkedAt }: UnmatchedReceipt): object => ({
  id: String(id),
  carrier: carrierNameOf(receipt.carrier),
  carrierMessageId: receipt.carrierMessageId,
  otherIds: receipt.otherIds ?? [],
  recipient: receipt.recipient === undefined ? null : maskNumber(receipt.recipient),
  state: receipt.state,
  errCode: receipt.errorCode,
  statusDescription: receipt.description,
  at: receipt.at,
  receivedAt: parkedAt,
});

function readCursor(cursor: string | undefined, faults: Fault[]): number | null {
  if (cursor === undefined) return null;
  const id = idOf(cursor);
  if (id === null) faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  return id;
}

const filterOf = ({ caller }: AuthenticCall, carrier: string | undefined): ParkedFilter => ({
  accountId: caller.account.id,
  ...(carrier === undefined ? {} : { carrier: carrierKey(caller.account.id, carrier) }),
});

async function getList({ store }: Services, call: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(call.query, faults);
  const after = readCursor(call.query.cursor, faults);
  refuseFaults(faults);
  const { rows, next } = await store.listParked(filterOf(call, call.query.carrier), after, limit);
  return { data: rows.map(receiptView), nextCursor: next === null ? null : String(next) };
}

async function find({ store }: Services, { params, caller }: AuthenticCall): Promise<UnmatchedReceipt> {
  const id = idOf(params.id ?? "");
  const found = id === null ? null : await store.findParked(caller.account.id, id);
  if (!found)
    throw new Problem("RECORD_NOT_FOUND", {
      message: "There is no unmatched receipt of this id: it was matched, removed, or is older than seven days.",
    });
  return found;
}

async function replayOne(services: Services, call: AuthenticCall): Promise<object> {
  const [ref] = await matchParked(services.reporting, [await find(services, call)]);
  return { matched: ref !== undefined && ref !== null, messageId: ref ? messageIdOf(ref) : null };
}

async function replayAll(services: Services, call: AuthenticCall): Promise<object> {
  const { carrier, cursor } = (call.body ?? {}) as { carrier?: string; cursor?: string };
  const faults: Fault[] = [];
  let after = readCursor(cursor, faults);
  refuseFaults(faults);
  let looked = 0;
  let matched = 0;
  do {
    const page = await services.store.listParked(filterOf(call, carrier), after, AT_ONCE);
    const refs = await matchParked(services.reporting, page.rows);
    looked += refs.length;
    matched += refs.filter((ref) => ref !== null).length;
    after = page.next;
  } while (after !== null && looked < LOOKED_AT_MAX);
  return { looked, matched, nextCursor: after === null ? null : String(after) };
}

const ReceiptView = Type.Object(
  {
    id: Type.String({ description: "Names the receipt in paths." }),
    carrier: Type.String({ description: "The carrier that it came from." }),
    carrierMessageId: Type.String({ description: "The id that it names, as the carrier wrote it." }),
    otherIds: Type.Array(Type.String(), { description: "Other spellings of the id that were tried." }),
    recipient: nullable(Type.String(), "The last digits of the number that it is about; null where it does not say."),
    state: Type.String({
      description: "What it says: enroute, delivered, read, undelivered, expired, rejected or unknown.",
    }),
    errCode: nullable(Type.String(), "The carrier's own code."),
    statusDescription: nullable(Type.String(), "What it says, in words."),
    at: Type.Integer({ description: "When it happened, by the carrier's word, in epoch milliseconds." }),
    receivedAt: Type.Integer({ description: "When it came, in epoch milliseconds." }),
  },
  { title: "UnmatchedReceipt" },
);

const example = {
  id: "4711",
  carrier: "north",
  carrierMessageId: "0011255808",
  otherIds: ["11255808", "abc000"],
  recipient: "********3210",
  state: "delivered",
  errCode: "000",
  statusDescription: "Delivered to the phone",
  at: 1767225600000,
  receivedAt: 1767225600250,
};

const common = { family: "plain", scope: "manage", group: "Receipts" } as const;
const ofOne = {
  params: { id: { meaning: "The receipt's `id`.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

/** Receipts of which nobody knows which message they are about. */
export const receiptRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/receipts",
    summary: "List unmatched receipts",
    description:
      "Receipts of the account's carriers that match no message, newest first. One that came before the answer to its submit is matched by itself; what stays names an id that nobody knows. They are kept for seven days.",
    query: {
      carrier: { meaning: "Only those of this carrier.", example: example.carrier },
      cursor: "The nextCursor of the page before.",
      limit: "1 to 200, 50 unless given.",
    },
    response: Type.Object({
      data: Type.Array(ReceiptView, { description: "One page of receipts." }),
      nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: getList,
  },
  {
    ...common,
    method: "POST",
    path: "/api/receipts/replay",
    summary: "Match unmatched receipts again",
    description: `Looks once more which messages the account's unmatched receipts are about, newest first, and applies those that are known now. At most ${LOOKED_AT_MAX} are looked at; go on with \`nextCursor\`.`,
    body: Type.Object({
      carrier: Type.Optional(Type.String({ description: "Only those of this carrier." })),
      cursor: Type.Optional(Type.String({ description: "The nextCursor of the answer before." })),
    }),
    requestExamples: { all: {}, "of one carrier": { carrier: "north" } },
    response: Type.Object({
      looked: Type.Integer({ description: "How many were looked at." }),
      matched: Type.Integer({ description: "How many of them are matched now, and gone from the list." }),
      nextCursor: nullable(Type.String(), "Where to go on; null when all have been looked at."),
    }),
    responseExample: { looked: 12, matched: 9, nextCursor: null },
    handle: replayAll,
  },
  {
    ...common,
    ...ofOne,
    method: "POST",
    path: "/api/receipts/:id/replay",
    summary: "Match an unmatched receipt again",
    description: "Looks once more which message it is about, and applies it if that is known now.",
    response: Type.Object({
      matched: Type.Boolean({ description: "Whether it is matched now, and gone from the list." }),
      messageId: nullable(Type.String(), "The message that it is about; null when that is still not known."),
    }),
    responseExample: { matched: true, messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1" },
    handle: replayOne,
  },
  {
    ...common,
    ...ofOne,
    method: "DELETE",
    path: "/api/receipts/:id",
    summary: "Remove an unmatched receipt",
    description: "Answers the receipt as it was.",
    response: ReceiptView,
    responseExample: example,
    handle: async (services, call) => {
      const receipt = await find(services, call);
      if (!(await services.store.removeParked(call.caller.account.id, receipt.id)))
        throw new Problem("RECORD_NOT_FOUND");
      return receiptView(receipt);
    },
  },
];
