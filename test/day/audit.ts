import { zonesOf } from "../../src/policies/zones.ts";
import type { MovedHouse } from "../support/moved-house.ts";
import type { Asked, Diary, Span } from "./diary.ts";
import { QUIET_HOURS, VALIDITY_MS } from "./live.ts";

const MINUTE_MS = 60_000;

interface MessageRow {
  id: string;
  state: string;
  credits: number;
  carrier: string | null;
  recipient: string;
  error_code: string | null;
}
interface Arrival {
  id: string;
  carrier: string;
  received_at: number;
}
interface LedgerRow {
  id: string;
  n: number;
  kind: string;
  amount: number;
  held: number;
}

/** What of a day's traffic broke a rule, in words; an empty list is a good day. Everything is computed again, slowly. */
export async function audit(house: MovedHouse, diary: Diary): Promise<string[]> {
  const messages = numbered(
    await house.rows<MessageRow>(
      "select cast(request_id as text) || ':' || n as id, state, credits, carrier, recipient, error_code from messages",
    ),
    ["credits"],
  );
  const arrivals = numbered(
    await house.rows<Arrival>("select message_id as id, carrier, received_at from phone_messages order by received_at"),
    ["received_at"],
  );
  return [
    ...missing(diary, messages),
    ...unfinished(messages),
    ...arrivals.flatMap((arrival) => untimely(diary, arrival)),
    ...firsts(arrivals).flatMap((arrival) => stopped(diary, arrival)),
    ...repeated(diary, arrivals),
    ...(await unbalanced(house, diary, messages, arrivals)),
  ];
}

/** PostgreSQL gives large integers as text. */
const numbered = <R extends object>(rows: readonly R[], names: readonly (keyof R)[]): R[] =>
  rows.map((row) => ({ ...row, ...Object.fromEntries(names.map((name) => [name, Number(row[name])])) }));

function missing({ asked }: Diary, messages: readonly MessageRow[]): string[] {
  const stored = new Set(messages.map(({ id }) => id));
  return [
    ...[...asked.keys()].filter((id) => !stored.has(id)).map((id) => `${id} was accepted and is gone`),
    ...[...stored].filter((id) => !asked.has(id)).map((id) => `${id} was never accepted and is there`),
  ];
}

const ENDS = new Set(["delivered", "undelivered", "expired", "rejected", "cancelled"]);

/** Who was taken and is never reported about stays with the carrier; everything else comes to an end. */
function unfinished(messages: readonly MessageRow[]): string[] {
  return messages
    .filter(({ state, recipient }) => !ENDS.has(state) && !(state === "submitted" && recipient.endsWith("9004")))
    .map(({ id, state, recipient, carrier }) => `${id} to ${recipient} is ${state} at ${carrier} in the end`);
}

function untimely(diary: Diary, { id, received_at: at }: Arrival): string[] {
  const asked = diary.asked.get(id);
  if (!asked) return [`${id} reached a phone and was never asked for`];
  const { to, type, sendAt, askedAt } = asked;
  const told = (what: string): string => `${id} (${type} to ${to}) ${what} at ${new Date(at).toISOString()}`;
  const found: string[] = [];
  if (at < (sendAt ?? askedAt)) found.push(told("came early"));
  if (type === "PROMO" && isQuiet(to, at)) found.push(told("came in quiet hours"));
  if (type === "PROMO" && isIn(diary.optOuts.get(to), at)) found.push(told("came after its recipient had opted out"));
  if (timeTaken(diary, asked, at) > VALIDITY_MS[type] + MINUTE_MS) found.push(told("came after its validity"));
  return found;
}

/** Of the time since it was to be sent, what counts: hours of quiet and pauses do not. */
function timeTaken(diary: Diary, { to, type, campaign, sendAt, askedAt }: Asked, at: number): number {
  const pauses = campaign === null ? undefined : diary.pauses.get(campaign);
  let taken = 0;
  for (let minute = sendAt ?? askedAt; minute < at; minute += MINUTE_MS)
    if (!(type === "PROMO" && isQuiet(to, minute)) && !isIn(pauses, minute)) taken += MINUTE_MS;
  return taken;
}

const isIn = (spans: readonly Span[] | undefined, at: number): boolean =>
  (spans ?? []).some(({ from, to }) => at > from && (to === null || at < to));

const clocks = new Map<string, Intl.DateTimeFormat>();
const quietMinutes = new Map<string, boolean>();

/** By the clocks on the recipient's walls, read for every minute anew. */
const isQuiet = (number: string, at: number): boolean => zonesOf(number).some((zone) => isQuietIn(zone, at));

function isQuietIn(zone: string, at: number): boolean {
  const key = `${zone} ${Math.floor(at / MINUTE_MS)}`;
  const known = quietMinutes.get(key);
  if (known !== undefined) return known;
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
  clocks.set(zone, clock);
  const local = clock.format(at);
  const quiet = local >= QUIET_HOURS.from || local < QUIET_HOURS.to;
  quietMinutes.set(key, quiet);
  return quiet;
}

/** The first time that each message reached its phone. */
const firsts = (arrivals: readonly Arrival[]): Arrival[] => [
  ...new Map(arrivals.toReversed().map((arrival) => [arrival.id, arrival])).values(),
];

function stopped(diary: Diary, { id, received_at: at }: Arrival): string[] {
  const campaign = diary.asked.get(id)?.campaign ?? null;
  if (campaign === null) return [];
  const found: string[] = [];
  if (isIn(diary.pauses.get(campaign), at)) found.push(`${id} went while its campaign was paused`);
  if (at > (diary.cancelled.get(campaign) ?? at)) found.push(`${id} went after its campaign was cancelled`);
  return found;
}

/** A promotion reaches its phone once by each carrier at most, whatever was lost on the way. */
function repeated(diary: Diary, arrivals: readonly Arrival[]): string[] {
  const seen = new Set<string>();
  return arrivals.flatMap(({ id, carrier }) => {
    const line = `${id} by ${carrier}`;
    const again = seen.has(line);
    seen.add(line);
    return again && diary.asked.get(id)?.type === "PROMO" ? [`${line} reached its phone twice`] : [];
  });
}

async function unbalanced(
  house: MovedHouse,
  diary: Diary,
  messages: readonly MessageRow[],
  arrivals: readonly Arrival[],
): Promise<string[]> {
  const ledger = numbered(
    await house.rows<LedgerRow>(
      "select cast(request_id as text) || ':' || n as id, n, kind, amount, held from ledger where account_id = 1",
    ),
    ["amount", "held"],
  );
  const { balance, held } = await house.app.store.findBalance(1);
  const sum = (of: readonly LedgerRow[], field: "amount" | "held"): number =>
    of.reduce((total, row) => total + row[field], 0);
  const taken = new Set(arrivals.map(({ id }) => id));
  const spent = ledger.filter(({ kind }) => kind === "spend");
  const cost = messages.filter(({ id }) => taken.has(id)).reduce((total, { credits }) => total + credits, 0);
  const expect = (what: string, is: number, should: number): string[] =>
    is === should ? [] : [`${what} is ${is} and should be ${should}`];
  return [
    ...expect("the balance beside the ledger", balance, sum(ledger, "amount")),
    ...expect("what is held beside the ledger", held, sum(ledger, "held")),
    ...expect("what is held", held, 0),
    ...expect("what was spent", -sum(spent, "held"), cost),
    ...expect("the balance", balance, diary.toppedUp - cost),
    ...expect("lines of spending", new Set(spent.map(({ id }) => id)).size, spent.length),
    ...spent.filter(({ id }) => !taken.has(id)).map(({ id }) => `${id} was paid for and no carrier took it`),
  ];
}
