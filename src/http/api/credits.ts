import { isUuid, newId } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import type { LedgerEntry, LedgerKind } from "../../model/credits.ts";
import { messageIdOf } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { LedgerPosition } from "../../store/credit-store.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { checkNote, noteField } from "./optouts.ts";
import { nullable } from "./records.ts";

const AMOUNT_MAX = 1_000_000_000;
const KINDS = ["top-up", "hold", "spend", "release", "refund"] as const satisfies readonly LedgerKind[];

async function balanceOf({ store }: Services, { caller }: AuthenticCall): Promise<object> {
  const { balance, held } = await store.findBalance(caller.account.id);
  return { mode: caller.account.settings.credits, balance, held };
}

async function topUp(services: Services, call: AuthenticCall): Promise<object> {
  const { amount, note, id } = call.body as { amount: number; note?: string; id?: string };
  const faults: Fault[] = [];
  if (amount === 0)
    faults.push({ parameter: "amount", message: "amount is not 0: give credits, or take some with a minus." });
  if (id !== undefined && !isUuid(id))
    faults.push({
      parameter: "id",
      message: "id is a UUID in small letters, like 0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47.",
    });
  checkNote(note, faults);
  refuseFaults(faults);
  const at = services.clock.now();
  const entry = { id: id ?? newId(at), amount, note: note ?? null, at };
  if (await services.store.addCredits(call.caller.account.id, entry)) return balanceOf(services, call);
  const message = `The account has fewer than ${-amount} credits, and a balance does not go below 0.`;
  throw new Problem("INSUFFICIENT_CREDITS", { faults: [{ parameter: "amount", message }] });
}

/** A place in the ledger as a word: `<id>:<n>:<kind>`. */
const cursorOf = ({ requestId, n, kind }: LedgerPosition): string => `${requestId}:${n}:${kind}`;

const CURSOR = new RegExp(`^([0-9a-f-]{36}):(0|[1-9][0-9]{0,5}):(${KINDS.join("|")})$`);

function parseCursor(written: string): LedgerPosition | null {
  const [, requestId = "", n, kind] = CURSOR.exec(written) ?? [];
  return isUuid(requestId) ? { requestId, n: Number(n), kind: kind as LedgerKind } : null;
}

async function getLedger({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const after = query.cursor === undefined ? null : parseCursor(query.cursor);
  if (query.cursor !== undefined && !after)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  refuseFaults(faults);
  const { rows, next } = await store.listLedger(caller.account.id, after, limit);
  return { data: rows.map(entryView), nextCursor: next && cursorOf(next) };
}

function entryView(entry: LedgerEntry): object {
  const { requestId, n, kind, amount, held, note, at } = entry;
  return { id: requestId, messageId: n === 0 ? null : messageIdOf(entry), kind, amount, held, note, at };
}

const CreditsView = Type.Object(
  {
    mode: Type.Union([Type.Literal("unlimited"), Type.Literal("metered")], {
      description:
        "metered: messages are accepted as long as the balance covers them. unlimited: nothing is taken. It is a setting of the account.",
    }),
    balance: Type.Integer({ description: "Credits to spend." }),
    held: Type.Integer({
      description: "Credits of messages that are accepted and not sent yet. They are no longer part of the balance.",
    }),
  },
  { title: "Credits" },
);

const EntryView = Type.Object(
  {
    id: Type.String({ description: "The `id` of the request, or of the top-up." }),
    messageId: nullable(Type.String(), "The message; null where it is about a whole request or a top-up."),
    kind: Type.Union(
      KINDS.map((kind) => Type.Literal(kind)),
      {
        description:
          "top-up: given or taken by hand. hold: a request was accepted. spend: a carrier took the message. release: it failed before. refund: it failed afterwards and is paid back.",
      },
    ),
    amount: Type.Integer({ description: "What it adds to the balance; the balance is the sum of all." }),
    held: Type.Integer({ description: "What it adds to the credits that are held." }),
    note: nullable(Type.String(), "Of a top-up, why."),
    at: Type.Integer({ description: "Epoch milliseconds." }),
  },
  { title: "LedgerEntry" },
);

const example = { mode: "metered", balance: 1000, held: 0 };
const common = { family: "plain", group: "Credits" } as const;

/** What the account has to spend, and why. */
export const creditRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    scope: "read",
    method: "GET",
    path: "/api/credits",
    summary: "Read the balance",
    description: "What the account has to spend.",
    response: CreditsView,
    responseExample: example,
    handle: balanceOf,
  },
  {
    ...common,
    scope: "manage",
    role: "owner",
    method: "POST",
    path: "/api/credits",
    summary: "Add credits",
    description: "Adds credits, or takes some away where the amount has a minus, and answers the new balance.",
    problems: ["INSUFFICIENT_CREDITS"],
    body: Type.Object({
      amount: Type.Integer({
        minimum: -AMOUNT_MAX,
        maximum: AMOUNT_MAX,
        description: "Whole credits, not 0. A minus takes them away.",
      }),
      note: Type.Optional(noteField),
      id: Type.Optional(
        Type.String({
          description:
            "A UUID that you make, so that a repeated request counts once. One of version 7 keeps the ledger in the order of time.",
        }),
      ),
    }),
    requestExamples: {
      "a thousand": { amount: 1000, note: "Invoice 2026-017", id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47" },
    },
    response: CreditsView,
    responseExample: example,
    handle: topUp,
  },
  {
    ...common,
    scope: "read",
    method: "GET",
    path: "/api/credits/ledger",
    summary: "Read the ledger",
    description: "Every change of the balance, newest request first.",
    query: { cursor: "The nextCursor of the page before.", limit: "1 to 200, 50 unless given." },
    response: Type.Object({
      data: Type.Array(EntryView, { description: "One page of entries." }),
      nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
    }),
    responseExample: {
      data: [
        {
          id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
          messageId: null,
          kind: "top-up",
          amount: 1000,
          held: 0,
          note: "Invoice 2026-017",
          at: 1767225600000,
        },
      ],
      nextCursor: null,
    },
    handle: getLedger,
  },
];
