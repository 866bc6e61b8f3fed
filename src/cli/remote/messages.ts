import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { BadSetting, type Config } from "../../config.ts";
import { countOf } from "../../lib/text.ts";
import { progressBar } from "../progress-bar.ts";
import type { Terminal } from "../terminal.ts";
import { chooseServer, ServerUnavailable, type Server, type ServerOptions } from "./server.ts";
import { table } from "./table.ts";

interface SendOptions extends ServerOptions {
  sender?: string | undefined;
  type?: string | undefined;
  wait?: boolean | undefined;
}

interface Sent {
  id: string;
  data: { recipient: string; messageId: string }[];
}

interface Message {
  messageId: string;
  recipient: string;
  status: string;
  statusDescription: string | null;
}

interface TimelineStep {
  at: number;
  step: string;
  what: string;
}

const SENDER = "HELIOG";
const LOOK_AGAIN_MS = 500;
/** A send is repeated with the same idempotency key. */
const TRIES = 4;

/** `send NUMBER[,NUMBER] TEXT`: exit code 1 if `--wait` is given and a message failed. */
export async function send(
  config: Config,
  [to = "", ...words]: readonly string[],
  { sender = SENDER, type = "TRANS", wait = false, ...options }: SendOptions,
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  if (to === "" || words.length === 0) throw new BadSetting("send needs a number and a text: send 15550100100 'Hello'");
  const server = chooseServer(config, options, profiles);
  const sent = await sendOnce(server, "/v1/sms", { sender, to, text: words.join(" "), type });
  if (!wait) {
    const lines = sent.data.map(({ recipient, messageId }) => [recipient, messageId]);
    return options.json ? JSON.stringify(sent, null, 2) : table(["RECIPIENT", "MESSAGE ID"], lines);
  }
  const messages = await finalStates(server, sent, terminal);
  if (messages.some(({ status }) => status === "Failed")) process.exitCode = 1;
  const lines = messages.map((one) => [one.recipient, one.messageId, one.status, one.statusDescription ?? ""]);
  return options.json ? JSON.stringify(messages, null, 2) : table(["RECIPIENT", "MESSAGE ID", "STATUS", ""], lines);
}

async function sendOnce(server: Server, path: string, body: object): Promise<Sent> {
  const headers = { "idempotency-key": randomUUID() };
  for (let tried = 1; ; tried += 1) {
    try {
      return await server.post<Sent>(path, body, headers);
    } catch (error) {
      if (!(error instanceof ServerUnavailable) || tried === TRIES) throw error;
      await pause(LOOK_AGAIN_MS * 2 ** tried);
    }
  }
}

/** Waits until each message is delivered or has failed. */
async function finalStates(server: Server, { data }: Sent, terminal: Terminal): Promise<Message[]> {
  const ended: Message[] = [];
  for (const { messageId } of data) {
    for (;;) {
      const message = await server.get<Message>(`/v1/messages/${encodeURIComponent(messageId)}`);
      if (message.status !== "Pending") {
        ended.push(message);
        break;
      }
      terminal.showProgress(
        progressBar(ended.length, data.length, `${ended.length} of ${countOf(data.length, "message")} ended`),
      );
      await pause(LOOK_AGAIN_MS);
    }
  }
  terminal.showProgress("");
  return ended;
}

/** `verify NUMBER`: sends a code, and asks for it at a terminal. */
export async function verify(
  config: Config,
  [to = ""]: readonly string[],
  { config: configId = "default", ...options }: ServerOptions & { config?: string | undefined },
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const started = await server.post<{ data: string }>(
    "/v1/verify",
    { configId, to },
    { "idempotency-key": randomUUID() },
  );
  if (options.json) return JSON.stringify(started, null, 2);
  if (!terminal.canAsk) return `A code was sent. Check it with: verify check ${started.data} CODE`;
  return checkCode(config, [started.data, await terminal.ask("Code:")], options, terminal, profiles);
}

/** `verify check VERIFY-ID CODE` */
export async function checkCode(
  config: Config,
  [verifyId = "", otp = ""]: readonly string[],
  options: ServerOptions,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const checked = await server.post<{ message: string }>("/v1/verify/validate", { verifyId, otp });
  return options.json ? JSON.stringify(checked, null, 2) : checked.message;
}

/** `why MESSAGE-ID`: each step of a message with its reason. */
export async function why(
  config: Config,
  [id = ""]: readonly string[],
  options: ServerOptions,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  // The id of a request stands for its first message.
  const messageId = id.includes(":") ? id : `${id}:1`;
  const message = await server.get<Message & { timeline: TimelineStep[] }>(
    `/api/messages/${encodeURIComponent(messageId)}`,
  );
  if (options.json) return JSON.stringify(message, null, 2);
  const status = [message.status, message.statusDescription].filter((word) => word).join(": ");
  const steps = message.timeline.map(({ at, step, what }) => [new Date(at).toISOString(), step, what]);
  return `${message.messageId} to ${message.recipient}: ${status}\n\n${table(["TIME", "STEP", "WHY"], steps)}`;
}
