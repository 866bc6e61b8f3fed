import { setTimeout as pause } from "node:timers/promises";
import { BadSetting, type Config } from "../config.ts";
import type { EventJson } from "../webhooks/payloads/event-json.ts";
import { postJson } from "../webhooks/post-json.ts";
import { newSecret, signed } from "../webhooks/sign.ts";
import { chooseServer, readUrl, ServerUnavailable, type Server, type ServerOptions } from "./remote/server.ts";
import type { Terminal } from "./terminal.ts";

interface ListenOptions extends ServerOptions {
  "forward-to"?: string | undefined;
  account?: string | undefined;
}

interface Page {
  data: EventJson[];
  nextCursor: string;
}

const AT_ONCE = 200;
const LOOK_AGAIN_MS = 500;
const UNAVAILABLE_MS = 2000;
const ANSWER_LIMIT_MS = 15_000;

/** Forwards the account's webhook events to a developer's own server, one after the other, until it is stopped. */
export async function listen(
  config: Config,
  _args: readonly string[],
  options: ListenOptions,
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  const target = readUrl("--forward-to", options["forward-to"]);
  const server = chooseServer(config, options, profiles);
  if (options.account !== undefined) await checkAccount(options.account, server);

  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    let { nextCursor } = await server.get<Page>("/v1/events?cursor=now");
    const secret = newSecret();
    terminal.say(`Listening at ${server.url}, forwarding to ${target}.`);
    terminal.say(`Requests are signed with ${secret}`);
    terminal.say("Only events of the account's webhooks and dlr-configs are forwarded. Stop with Ctrl-C.\n");
    const counts = { forwarded: 0, accepted: 0 };
    let isAvailable = true;
    while (!stopping.signal.aborted) {
      const page = await unlessUnavailable(
        server.get<Page>(`/v1/events?limit=${AT_ONCE}&cursor=${nextCursor}`),
        (reason) => {
          if (isAvailable) terminal.say(`Waiting for the server: ${reason}`);
        },
      );
      isAvailable = page !== null;
      for (const event of page?.data ?? []) {
        const outcome = await forward(target, event, secret);
        terminal.say(`${lineOf(event)} -> ${outcome.text}`);
        counts.forwarded += 1;
        if (outcome.accepted) counts.accepted += 1;
      }
      nextCursor = page?.nextCursor ?? nextCursor;
      if (page?.data.length !== AT_ONCE) await rest(page ? LOOK_AGAIN_MS : UNAVAILABLE_MS, stopping.signal);
    }
    return `\n${counts.forwarded} forwarded, ${counts.accepted} of them answered with a 2xx.`;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** Refuses an account name that is not the key's own: the wrong events would be forwarded. */
async function checkAccount(wanted: string, server: Server): Promise<void> {
  const { name } = await server.get<{ name: string }>("/api/account");
  if (name !== wanted) throw new BadSetting(`the key is one of the account ${name}, not of ${wanted}`);
}

/** The response, or null while the server is unavailable, because the caller tries again. */
async function unlessUnavailable<T>(asked: Promise<T>, report: (reason: string) => void): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof ServerUnavailable)) throw error;
    report(error.message);
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
): Promise<{ accepted: boolean; text: string }> {
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
    return { accepted: answer.ok, text: `${answer.status} in ${Math.round(performance.now() - startedAt)} ms` };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return { accepted: false, text: `no answer (${cause?.code ?? (error as Error).name})` };
  }
}

/** One line with time, event and message. */
function lineOf({ at, channel, event, payload }: EventJson): string {
  const { messageId, status, statuses } = payload as {
    messageId?: string;
    status?: string;
    statuses?: { status: string };
  };
  const facts = [new Date(at).toISOString(), channel, event, status ?? statuses?.status, messageId];
  return facts.filter((fact) => fact !== undefined).join(" ");
}
