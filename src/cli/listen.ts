import { setTimeout as pause } from "node:timers/promises";
import { BadSetting, type Config } from "../config.ts";
import type { EventJson } from "../webhooks/event-json.ts";
import { postJson } from "../webhooks/post-json.ts";
import { newSecret, signed } from "../webhooks/sign.ts";
import type { Terminal } from "./terminal.ts";

interface Wishes {
  "forward-to"?: string | undefined;
  url?: string | undefined;
  key?: string | undefined;
  account?: string | undefined;
}

interface Page {
  data: EventJson[];
  nextCursor: string;
}

const AT_ONCE = 200;
const LOOK_AGAIN_MS = 500;
const AWAY_MS = 2000;
const ANSWER_LIMIT_MS = 15_000;

/** The server cannot be asked now, and may be later. */
class Away extends Error {
  override name = "Away";
}

/** Tells a developer's own server what the account's addresses are told, one event after the other, until it is stopped. */
export async function listen(
  config: Config,
  _args: readonly string[],
  wishes: Wishes,
  terminal: Terminal,
): Promise<string> {
  const target = readUrl("--forward-to", wishes["forward-to"]);
  const server = readUrl("--url", wishes.url ?? `http://127.0.0.1:${config.port}`).replace(/\/+$/, "");
  const key = wishes.key ?? config.apiKey;
  if (key === null) throw new BadSetting("give an API key with the scope read, as --key or as HELIOGRAPH_API_KEY");
  const ask = <T>(path: string): Promise<T> => askServer<T>(server + path, key);
  if (wishes.account !== undefined) await checkAccount(wishes.account, ask);

  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    let { nextCursor } = await ask<Page>("/v1/events?cursor=now");
    const secret = newSecret();
    terminal.say(`Listening at ${server}, forwarding to ${target}.`);
    terminal.say(`Requests are signed with ${secret}`);
    terminal.say("Only what a webhook or a dlr-config of the account asks for is told. Stop with Ctrl-C.\n");
    const counts = { told: 0, taken: 0 };
    let wasAway = false;
    while (!stopping.signal.aborted) {
      const page = await unlessAway(ask<Page>(`/v1/events?limit=${AT_ONCE}&cursor=${nextCursor}`), (words) => {
        if (!wasAway) terminal.say(`Waiting for the server: ${words}`);
      });
      wasAway = page === null;
      for (const event of page?.data ?? []) {
        const outcome = await forward(target, event, secret);
        terminal.say(`${lineOf(event)} -> ${outcome.words}`);
        counts.told += 1;
        if (outcome.taken) counts.taken += 1;
      }
      nextCursor = page?.nextCursor ?? nextCursor;
      if (page?.data.length !== AT_ONCE) await rest(page ? LOOK_AGAIN_MS : AWAY_MS, stopping.signal);
    }
    return `\n${counts.told} forwarded, ${counts.taken} of them answered with a 2xx.`;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

function readUrl(option: string, written: string | undefined): string {
  const url = written === undefined ? null : URL.parse(written);
  if (written !== undefined && url && ["http:", "https:"].includes(url.protocol)) return written;
  throw new BadSetting(`${option} is an address that begins with http:// or https://, like http://127.0.0.1:3000/hook`);
}

async function askServer<T>(address: string, key: string): Promise<T> {
  const asked = await fetch(address, { headers: { apikey: key }, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).catch(
    (error: unknown) => {
      throw new Away(`no server answers at ${new URL(address).origin}`, { cause: error });
    },
  );
  const body = (await asked.json().catch(() => null)) as (T & { message?: string }) | null;
  if (asked.ok && body !== null) return body;
  const words = body?.message ?? `it answered ${asked.status}`;
  if (asked.status >= 500 || asked.status === 429) throw new Away(words);
  throw new BadSetting(`the server refuses: ${words}`);
}

/** A key opens one account: whoever names another would forward the wrong events. */
async function checkAccount(wanted: string, ask: (path: string) => Promise<{ name: string }>): Promise<void> {
  const { name } = await ask("/api/account");
  if (name !== wanted) throw new BadSetting(`the key is one of the account ${name}, not of ${wanted}`);
}

/** What was asked for; null while the server is away, which is no reason to give up. */
async function unlessAway<T>(asked: Promise<T>, tell: (words: string) => void): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Away)) throw error;
    tell(error.message);
    return null;
  }
}

/** Ends early, and quietly, when the command is stopped. */
const rest = (ms: number, signal: AbortSignal): Promise<void> =>
  pause(ms, undefined, { signal }).catch(() => undefined);

async function forward(
  target: string,
  { eventId, payload }: EventJson,
  secret: string,
): Promise<{ taken: boolean; words: string }> {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const request = signed(postJson(target, payload), { id: eventId, timestampSeconds, secrets: [secret] });
  const startedAt = performance.now();
  try {
    const answer = await fetch(target, {
      method: "POST",
      headers: request.headers,
      body: request.body,
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    await answer.body?.cancel();
    return { taken: answer.ok, words: `${answer.status} in ${Math.round(performance.now() - startedAt)} ms` };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return { taken: false, words: `no answer (${cause?.code ?? (error as Error).name})` };
  }
}

/** One line for people: when, what, of which message. */
function lineOf({ at, channel, event, payload }: EventJson): string {
  const { messageId, status, statuses } = payload as {
    messageId?: string;
    status?: string;
    statuses?: { status: string };
  };
  const words = [new Date(at).toISOString(), channel, event, status ?? statuses?.status, messageId];
  return words.filter((word) => word !== undefined).join(" ");
}
