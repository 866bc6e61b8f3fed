import { zonesOf } from "../../src/pipeline/policy/zones.ts";
import type { MovedClockServer } from "../support/moved-clock-server.ts";
import type { SendRecord, Diary, Span } from "./diary.ts";
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

/**
 * Returns every violated rule of the simulated day as text. All expectations are recomputed independently from the
 * diary, by simple and slow code.
 */
export async function audit(server: MovedClockServer, diary: Diary): Promise<string[]> {
  const messages = withNumbers(
    await server.rows<MessageRow>(
      "select cast(request_id as text) || ':' || n as id, state, credits, carrier, recipient, error_code from messages",
    ),
    ["credits"],
  );
  const arrivals = withNumbers(
    await server.rows<Arrival>(
      "select message_id as id, carrier, received_at from phone_messages order by received_at",
    ),
    ["received_at"],
  );
  return [
    ...missing(diary, messages),
    ...unfinished(messages),
    ...arrivals.flatMap((arrival) => untimely(diary, arrival)),
    ...firsts(arrivals).flatMap((arrival) => stopped(diary, arrival)),
    ...repeated(diary, arrivals),
    ...(await unbalanced(server, diary, messages, arrivals)),
  ];
}

/** PostgreSQL returns bigint as text. */
const withNumbers = <R extends object>(rows: readonly R[], names: readonly (keyof R)[]): R[] =>
  rows.map((row) => ({ ...row, ...Object.fromEntries(names.map((name) => [name, Number(row[name])])) }));

function missing({ sent: asked }: Diary, messages: readonly MessageRow[]): string[] {
  const stored = new Set(messages.map(({ id }) => id));
  return [
    ...[...asked.keys()].filter((id) => !stored.has(id)).map((id) => `${id} was accepted and is missing`),
    ...[...stored].filter((id) => !asked.has(id)).map((id) => `${id} is stored and was never accepted`),
  ];
}

const ENDS = new Set(["delivered", "undelivered", "expired", "rejected", "cancelled"]);

const SILENT = new Set(["submitted", "unknown"]);

/**
 * A message without a receipt stays submitted and becomes unknown when its validity ends; every other message reaches a
 * final state.
 */
function unfinished(messages: readonly MessageRow[]): string[] {
  return messages
    .filter(({ state, recipient }) => !ENDS.has(state) && !(SILENT.has(state) && recipient.endsWith("9004")))
    .map(
      ({ id, state, recipient, carrier }) => `${id} to ${recipient} is ${state} at ${carrier} at the end of the day`,
    );
}

function untimely(diary: Diary, { id, received_at: at }: Arrival): string[] {
  const record = diary.sent.get(id);
  if (!record) return [`${id} reached a phone and was never requested`];
  const { to, type, sendAt, requestedAt: askedAt } = record;
  const violation = (what: string): string => `${id} (${type} to ${to}) ${what} at ${new Date(at).toISOString()}`;
  const found: string[] = [];
  if (at < (sendAt ?? askedAt)) found.push(violation("came early"));
  if (type === "PROMO" && isQuiet(to, at)) found.push(violation("came in quiet hours"));
  if (type === "PROMO" && isIn(diary.optOuts.get(to), at))
    found.push(violation("came after its recipient had opted out"));
  if (timeTaken(diary, record, at) > VALIDITY_MS[type] + MINUTE_MS) found.push(violation("came after its validity"));
  return found;
}

/** Validity used since the scheduled time. Quiet hours and pauses do not count. */
function timeTaken(diary: Diary, { to, type, campaign, sendAt, requestedAt: askedAt }: SendRecord, at: number): number {
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

/** In local time of the recipient, computed separately for every minute. */
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

/** First arrival of each message. */
const firsts = (arrivals: readonly Arrival[]): Arrival[] => [
  ...new Map(arrivals.toReversed().map((arrival) => [arrival.id, arrival])).values(),
];

function stopped(diary: Diary, { id, received_at: at }: Arrival): string[] {
  const campaign = diary.sent.get(id)?.campaign ?? null;
  if (campaign === null) return [];
  const found: string[] = [];
  if (isIn(diary.pauses.get(campaign), at)) found.push(`${id} was sent while its campaign was paused`);
  if (at > (diary.cancelled.get(campaign) ?? at)) found.push(`${id} was sent after its campaign was cancelled`);
  return found;
}

/** Duplicate check: a promotion reaches its phone at most once per carrier, even after a lost submit ack. */
function repeated(diary: Diary, arrivals: readonly Arrival[]): string[] {
  const seen = new Set<string>();
  return arrivals.flatMap(({ id, carrier }) => {
    const line = `${id} by ${carrier}`;
    const again = seen.has(line);
    seen.add(line);
    return again && diary.sent.get(id)?.type === "PROMO" ? [`${line} reached its phone twice`] : [];
  });
}

async function unbalanced(
  server: MovedClockServer,
  diary: Diary,
  messages: readonly MessageRow[],
  arrivals: readonly Arrival[],
): Promise<string[]> {
  const ledger = withNumbers(
    await server.rows<LedgerRow>(
      "select cast(request_id as text) || ':' || n as id, n, kind, amount, held from ledger where account_id = 1",
    ),
    ["amount", "held"],
  );
  const { balance, held } = await server.app.store.findBalance(1);
  const sum = (of: readonly LedgerRow[], field: "amount" | "held"): number =>
    of.reduce((total, row) => total + row[field], 0);
  const arrived = new Set(arrivals.map(({ id }) => id));
  const spendEntries = ledger.filter(({ kind }) => kind === "spend");
  const cost = messages.filter(({ id }) => arrived.has(id)).reduce((total, { credits }) => total + credits, 0);
  const expect = (what: string, is: number, should: number): string[] =>
    is === should ? [] : [`${what} is ${is}, expected ${should}`];
  return [
    ...expect("balance compared with the ledger", balance, sum(ledger, "amount")),
    ...expect("held credits compared with the ledger", held, sum(ledger, "held")),
    ...expect("held credits", held, 0),
    ...expect("spent credits", -sum(spendEntries, "held"), cost),
    ...expect("balance", balance, diary.toppedUp - cost),
    ...expect("spend entries", new Set(spendEntries.map(({ id }) => id)).size, spendEntries.length),
    ...spendEntries.filter(({ id }) => !arrived.has(id)).map(({ id }) => `${id} was charged and never submitted`),
  ];
}
