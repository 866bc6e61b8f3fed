import { setTimeout as pause } from "node:timers/promises";
import { BadSetting, type Config } from "../../config.ts";
import type { Terminal } from "../terminal.ts";
import { chooseServer, type Server, type ServerOptions } from "./server.ts";

interface Live {
  messageId: string;
  channel: string;
  state: string;
  recipient: string;
  at: number;
}

const CONNECT_AGAIN_MS = 2000;

/** `tail`: prints each change of a message's state as it happens, until it is stopped. */
export async function tail(
  config: Config,
  _words: readonly string[],
  options: ServerOptions & { channel?: string | undefined },
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const print = (name: string, data: string): void => {
    const event = JSON.parse(data) as Live & { count: number };
    if (options.json) return terminal.say(data);
    if (name === "more") return terminal.say(`… and ${event.count} more`);
    if (options.channel !== undefined && event.channel !== options.channel) return;
    const time = new Date(event.at).toISOString();
    terminal.say(
      `${time}  ${event.channel.padEnd(7)}  ${event.state.padEnd(11)}  ${event.recipient}  ${event.messageId}`,
    );
  };
  if (!options.json) terminal.say(`Messages of ${server.url}. Stop with Ctrl-C.`);
  let last: string | null = null;
  try {
    while (!stopping.signal.aborted) {
      try {
        await follow(server, last, stopping.signal, (name, data, id) => {
          last = id ?? last;
          print(name, data);
        });
      } catch (error) {
        if (error instanceof BadSetting) throw error;
        if (!stopping.signal.aborted && !options.json) terminal.say("Waiting for the server");
      }
      await pause(CONNECT_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
  return "";
}

type OnEvent = (name: string, data: string, id: string | null) => void;

/** Reads server-sent events until the stream ends. */
async function follow(server: Server, after: string | null, signal: AbortSignal, onEvent: OnEvent): Promise<void> {
  const response = await fetch(`${server.url}/api/live`, {
    headers: { apikey: server.key, ...(after !== null && { "last-event-id": after }) },
    redirect: "manual",
    signal,
  });
  if (!response.ok || response.body === null) {
    const answer = (await response.json().catch(() => null)) as { message?: string } | null;
    const reason = answer?.message ?? `it answered ${response.status}`;
    if (response.status >= 500 || response.status === 429) throw new Error(reason);
    throw new BadSetting(`the server refuses: ${reason}`);
  }
  let unread = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (unread + text).split("\n\n");
    unread = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(
        block.split("\n").map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]),
      );
      const data = fields.get("data");
      if (data !== undefined) onEvent(fields.get("event") ?? "", data, fields.get("id") ?? null);
    }
  }
}
