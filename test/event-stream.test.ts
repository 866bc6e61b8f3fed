import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import { describe, expect, test } from "vitest";
import { openStream } from "../src/http/event-stream.ts";
import { MovedClock } from "./support/moved-clock.ts";

function replyOn(raw: ServerResponse): FastifyReply {
  return { raw, hijack: () => {}, request: { raw: raw.req } } as never;
}

const answer = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

describe("a stream of events", () => {
  test("for somebody who left while being asked who they are is over at once, and nobody waits for them", () => {
    const raw = answer();
    raw.destroy();
    let closed = 0;
    openStream(replyOn(raw), new MovedClock(), new AbortController().signal).onClose(() => (closed += 1));
    expect(closed).toBe(1);
  });

  test("that begins while the server stops is ended at once", () => {
    const raw = answer();
    openStream(replyOn(raw), new MovedClock(), AbortSignal.abort());
    expect(raw.writableEnded).toBe(true);
  });

  test("ends after ten minutes, for whoever it is, so that they are asked again", () => {
    const raw = answer();
    const clock = new MovedClock();
    openStream(replyOn(raw), clock, new AbortController().signal);
    clock.advance(599_000);
    expect(raw.writableEnded).toBe(false);
    clock.advance(1000);
    expect(raw.writableEnded).toBe(true);
  });
});
