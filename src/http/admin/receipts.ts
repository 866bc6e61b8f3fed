import { nullable, Type } from "../../lib/schema.ts";
import { matchUnmatched } from "../../pipeline/receipts/receive-receipt.ts";
import { carrierKey, carrierNameOf } from "../../model/catalog.ts";
import { messageIdOf } from "../../model/message.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { maskNumber } from "../../model/verification.ts";
import type { UnmatchedFilter, UnmatchedReceipt } from "../../store/store.ts";
import { readLimit } from "../pagination.ts";
import { pageParameters } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";

/** Largest integer id of both engines (32 bits). */
const ID_MAX = 2_147_483_647;

/** Parses a receipt id from a path or cursor; null if invalid. */
const idOf = (written: string): number | null =>
  /^[1-9]\d{0,9}$/.test(written) && Number(written) <= ID_MAX ? Number(written) : null;

const AT_ONCE = 500;
/** Bounds the duration of one request. */
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

const BAD_CURSOR = "cursor is the nextCursor of an earlier answer.";

const filterOf = ({ caller }: AuthenticCall, carrier: string | undefined): UnmatchedFilter => ({
  accountId: caller.account.id,
  ...(carrier === undefined ? {} : { carrier: carrierKey(caller.account.id, carrier) }),
});

async function getList({ store }: Services, call: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(call.query, faults);
  const { cursor } = call.query;
  const after = cursor === undefined ? null : idOf(cursor);
  if (cursor !== undefined && after === null) faults.push({ parameter: "cursor", message: BAD_CURSOR });
  refuseFaults(faults);
  const { rows, next } = await store.listUnmatched(filterOf(call, call.query.carrier), after, limit);
  return { data: rows.map(receiptView), nextCursor: next === null ? null : String(next) };
}

async function find({ store }: Services, { params, caller }: AuthenticCall): Promise<UnmatchedReceipt> {
  const id = idOf(params.id ?? "");
  const found = id === null ? null : await store.findUnmatched(caller.account.id, id);
  if (!found)
    throw new Problem("RECORD_NOT_FOUND", {
      message: "There is no unmatched receipt with this id: it was matched, deleted, or is older than seven days.",
    });
  return found;
}

async function replayOne(services: Services, call: AuthenticCall): Promise<object> {
  const [ref] = await matchUnmatched(services.receiptDeps, [await find(services, call)]);
  return { matched: ref !== undefined && ref !== null, messageId: ref ? messageIdOf(ref) : null };
}

async function replayAll(services: Services, call: WithBody<AuthenticCall, typeof ReplayBody>): Promise<object> {
  const { carrier, cursor } = call.body;
  let after = cursor === undefined ? null : idOf(cursor);
  let looked = 0;
  let matched = 0;
  do {
    const page = await services.store.listUnmatched(filterOf(call, carrier), after, AT_ONCE);
    const refs = await matchUnmatched(services.receiptDeps, page.rows);
    looked += refs.length;
    matched += refs.filter((ref) => ref !== null).length;
    after = page.next;
  } while (after !== null && looked < LOOKED_AT_MAX);
  return { looked, matched, nextCursor: after === null ? null : String(after) };
}

const ReplayBody = Type.Object({
  carrier: Type.Optional(Type.String({ description: "Filter by carrier name." })),
  cursor: Type.Optional(
    Type.String({
      description: "nextCursor of the previous response.",
      check: (cursor) => (idOf(cursor) === null ? BAD_CURSOR : null),
    }),
  ),
});

const ReceiptView = Type.Object(
  {
    id: Type.String({ description: "Receipt ID." }),
    carrier: Type.String({ description: "Carrier that sent it." }),
    carrierMessageId: Type.String({ description: "Message ID in the carrier's format." }),
    otherIds: Type.Array(Type.String(), { description: "Other formats of the ID that were tried." }),
    recipient: nullable(Type.String(), "Last digits of the recipient's number; null if the receipt has none."),
    state: Type.String({
      description: "Reported status: enroute, delivered, read, undelivered, expired, rejected or unknown.",
    }),
    errCode: nullable(Type.String(), "Carrier's error code."),
    statusDescription: nullable(Type.String(), "Status in words."),
    at: Type.Integer({ description: "Time of the event according to the carrier, in epoch milliseconds." }),
    receivedAt: Type.Integer({ description: "Time of arrival, in epoch milliseconds." }),
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

const common = { family: "plain", scope: "manage", testKeys: null, group: "Receipts" } as const;
const ofOne = {
  params: { id: { meaning: "Receipt ID.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

/** Operations on unmatched receipts. */
export const receiptRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/receipts",
    summary: "List unmatched receipts",
    description:
      "Lists receipts from the account's carriers that match no message, newest first. A receipt that arrives before the response to its submit is matched automatically; the rest refer to unknown message IDs. Kept for seven days.",
    query: {
      carrier: { meaning: "Filter by carrier name.", example: example.carrier },
      ...pageParameters(example.id),
    },
    response: Type.Object({
      data: Type.Array(ReceiptView, { description: "Receipts on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: getList,
  },
  keyedRoute({
    ...common,
    method: "POST",
    path: "/api/receipts/replay",
    summary: "Match all receipts again",
    description: `Looks up the messages of the account's unmatched receipts again, newest first, and applies those that now match. Checks at most ${LOOKED_AT_MAX} per request; continue with \`nextCursor\`.`,
    body: ReplayBody,
    requestExamples: { all: {}, "of one carrier": { carrier: "north" } },
    response: Type.Object({
      looked: Type.Integer({ description: "Number of receipts checked." }),
      matched: Type.Integer({ description: "Number of receipts that matched and were removed from the list." }),
      nextCursor: nullable(Type.String(), "Cursor to continue with; null if all were checked."),
    }),
    responseExample: { looked: 12, matched: 9, nextCursor: null },
    handle: replayAll,
  }),
  {
    ...common,
    ...ofOne,
    method: "POST",
    path: "/api/receipts/:id/replay",
    summary: "Match a receipt again",
    description: "Looks up the message again and applies the receipt if it now matches.",
    response: Type.Object({
      matched: Type.Boolean({ description: "True if it matched and was removed from the list." }),
      messageId: nullable(Type.String(), "Matched message; null if there is none."),
    }),
    responseExample: { matched: true, messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1" },
    handle: replayOne,
  },
  {
    ...common,
    ...ofOne,
    method: "DELETE",
    path: "/api/receipts/:id",
    summary: "Delete an unmatched receipt",
    description: "Deletes the receipt and returns it.",
    response: ReceiptView,
    responseExample: example,
    handle: async (services, call) => {
      const receipt = await find(services, call);
      if (!(await services.store.removeUnmatched(call.caller.account.id, receipt.id)))
        throw new Problem("RECORD_NOT_FOUND");
      return receiptView(receipt);
    },
  },
];
