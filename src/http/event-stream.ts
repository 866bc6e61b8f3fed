import type { FastifyReply } from "fastify";
import { every, type Clock } from "../lib/clock.ts";
import { hideNumbers, seesLess } from "./hide-numbers.ts";
import { callerOf, isStillWelcome } from "./request-caller.ts";

const BREATH_MS = 15_000;
/** How soon a stream ends whose key or session has ended, or may do less or more than it did. */
const ASK_AGAIN_MS = 3000;
/** A stream ends after so long anyway: whoever comes back goes on where they were. */
const STREAM_MS = 600_000;
/** A reader that is this far behind is dropped; it comes back and asks for what it missed. */
const UNREAD_BYTES_MAX = 1_048_576;

export interface EventStream {
  send(event: string, id: string, data: object): void;
  end(): void;
  onClose(run: () => void): void;
}

/** Turns an answer into server-sent events, with a comment now and then so that proxies keep the line open. */
export function openStream(reply: FastifyReply, clock: Clock, stopping: AbortSignal): EventStream {
  const caller = callerOf(reply.request);
  const shown = (data: object): unknown => (seesLess(caller) ? hideNumbers(data, null) : data);
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    // A stream ends with its server, and its line must not stay open then for a next request.
    connection: "close",
  });
  // A reader may be gone, or the stream ended by a stop, before the last message for it has arrived.
  const write = (text: string): void => {
    if (!raw.writableEnded && !raw.destroyed) raw.write(text);
  };
  raw.on("error", () => raw.destroy());
  write(": open\n\n");
  const breath = every(clock, BREATH_MS, async () => write(": breath\n\n"));
  const end = (): void => void raw.end();
  const asking = every(clock, ASK_AGAIN_MS, async () => {
    if (!(await isStillWelcome(reply.request))) end();
  });
  stopping.addEventListener("abort", end);
  const callOff = clock.after(STREAM_MS, end);
  // Whoever left while we asked who they are has closed already, and will not again.
  const onClose = (run: () => void): void => void (raw.destroyed || raw.closed ? run() : raw.on("close", run));
  onClose(() => {
    callOff();
    stopping.removeEventListener("abort", end);
    void breath.stop();
    void asking.stop();
  });
  if (stopping.aborted) end();
  return {
    send(event, id, data) {
      write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(shown(data))}\n\n`);
      if (raw.writableLength > UNREAD_BYTES_MAX) raw.destroy();
    },
    end,
    onClose,
  };
}
