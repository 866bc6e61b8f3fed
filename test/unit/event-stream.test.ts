import { IncomingMessage, ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Caller } from "../../src/accounts/caller.ts";
import { setCaller, setClientAddress } from "../../src/http/auth/request-caller.ts";
import { createEventFormatter, EventStreams, type EventStream } from "../../src/http/event-stream.ts";
import { Problem } from "../../src/model/problem.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";

afterEach(() => void vi.restoreAllMocks());

/** The client's end of a connection: what was written, and whether the client reads. */
class Client extends Duplex {
  received = "";
  writes = 0;
  reads = true;
  #onRead: (() => void) | null = null;
  override _read(): void {}
  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.received += chunk.toString();
    this.writes += 1;
    if (this.reads) done();
    else this.#onRead = done;
  }
  override _writev(chunks: { chunk: Buffer | string }[], done: () => void): void {
    this._write(chunks.map(({ chunk }) => chunk.toString()).join(""), "utf8", done);
  }
  read_(): void {
    this.reads = true;
    this.#onRead?.();
  }
  /** Body of the response, without the chunked transfer encoding. */
  body(): string {
    let rest = this.received.slice(this.received.indexOf("\r\n\r\n") + 4);
    let body = "";
    while (rest !== "") {
      const length = Number.parseInt(rest, 16);
      const from = rest.indexOf("\r\n") + 2;
      const bytes = Buffer.from(rest.slice(from));
      body += bytes.subarray(0, length).toString();
      rest = bytes.subarray(length + 2).toString();
    }
    return body;
  }
}

const callerWith = (given: { id?: string; account?: number; role?: string } = {}): Caller =>
  ({
    account: { id: given.account ?? 1 },
    key: { mode: "live", scopes: [] },
    role: given.role ?? "owner",
    actor: { kind: "key", id: given.id ?? "a", name: "key" },
    session: null,
  }) as unknown as Caller;

function openStreams({ perAccountMax = 100, stopping = new AbortController().signal } = {}) {
  const clock = new MovedClock();
  const streams = new EventStreams({ clock, stopping, perAccountMax });
  let checks = 0;
  const open = (
    given: {
      caller?: Caller;
      address?: string;
      apikey?: string;
      isAuthorized?: () => boolean;
      isQueued?: boolean;
    } = {},
  ): { client: Client; raw: ServerResponse; stream: EventStream } => {
    const client = new Client();
    const incoming = new IncomingMessage(client as unknown as Socket);
    incoming.httpVersionMajor = 1;
    incoming.httpVersionMinor = 1;
    const raw = new ServerResponse(incoming);
    if (!given.isQueued) raw.assignSocket(client as unknown as Socket);
    const caller = given.caller ?? callerWith();
    const request = { raw: incoming, headers: { apikey: given.apikey ?? "secret" }, url: "/api/live" };
    setClientAddress(request as never, given.address ?? "192.0.2.1");
    setCaller(request as never, caller, () => {
      checks += 1;
      if (given.isAuthorized?.() === false) throw new Error("refused");
      return caller;
    });
    return { client, raw, stream: streams.open({ raw, hijack: () => {}, request } as unknown as FastifyReply) };
  };
  return { clock, streams, open, checks: () => checks };
}

interface Source {
  id: string;
  to: string;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("an event stream", () => {
  test("closes at once for a client that left during authentication", () => {
    const { streams } = openStreams();
    const raw = new ServerResponse(new IncomingMessage(new Socket()));
    raw.destroy();
    let closed = 0;
    streams
      .open({ raw, hijack: () => {}, request: { raw: raw.req, headers: {}, url: "/" } } as never)
      .onClose(() => (closed += 1));
    expect([closed, streams.count]).toEqual([1, 0]);
  });

  test("that starts while the server stops ends at once", () => {
    const { open } = openStreams({ stopping: AbortSignal.abort() });
    expect(open().raw.writableEnded).toBe(true);
  });

  test("ends after ten minutes, so that clients authenticate again", () => {
    const { clock, open } = openStreams();
    const { raw } = open();
    clock.advance(599_000);
    expect(raw.writableEnded).toBe(false);
    clock.advance(1000);
    expect(raw.writableEnded).toBe(true);
  });

  test("has the bytes of server-sent events, with a comment every 15 seconds", async () => {
    const format = createEventFormatter("moved", ({ to }: Source) => ({ to, text: "Grüße" }));
    const { clock, open } = openStreams();
    const { client, stream } = open();
    stream.send(format({ id: "1", to: "33612345678" }, callerWith()));
    stream.send(format({ id: "2", to: "33612345678" }, callerWith()));
    await nextTurn();
    clock.advance(15_000);
    stream.end();
    expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\n/);
    expect(client.received).toMatch(/\r\n0\r\n\r\n$/);
    expect(client.body()).toBe(
      ': open\n\nevent: moved\nid: 1\ndata: {"to":"33612345678","text":"Grüße"}\n\nevent: moved\nid: 2\ndata: {"to":"33612345678","text":"Grüße"}\n\n: breath\n\n',
    );
  });
});

describe("many event streams", () => {
  test("share the text of an event: it is serialised once per view", async () => {
    const format = createEventFormatter("moved", ({ to }: Source) => ({ to }));
    const { open } = openStreams();
    const [owner, viewer] = [callerWith(), callerWith({ role: "viewer" })];
    const opened = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? owner : viewer)).map((caller) => ({
      caller,
      ...open({ caller }),
    }));
    const stringify = vi.spyOn(JSON, "stringify");
    const event = { id: "1", to: "33612345678" };
    for (const { stream, caller } of opened) stream.send(format(event, caller));
    expect(stringify).toHaveBeenCalledTimes(2);
    stringify.mockRestore();
    await nextTurn();
    const bodies = opened.map(({ client }) => client.body());
    expect(bodies[0]).toContain('{"to":"33612345678"}');
    expect(bodies[1]).toMatch(/\{"to":"\*+5678"\}/);
    expect(new Set(bodies).size).toBe(2);
  });

  test("write the events of one moment at once, and a hundred streams at a time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { open } = openStreams({ perAccountMax: 1000 });
      const opened = Array.from({ length: 250 }, () => open());
      await nextTurn();
      const before = opened.map(({ client }) => client.writes);
      const written = (): number => opened.filter(({ client }, index) => client.writes > (before[index] ?? 0)).length;
      for (let event = 0; event < 5; event += 1) for (const { stream } of opened) stream.send(`data: ${event}\n\n`);
      await nextTurn();
      expect(written()).toBe(100);
      for (const { stream } of opened) stream.send("data: 5\n\n");
      vi.advanceTimersByTime(50);
      expect(written()).toBe(200);
      vi.advanceTimersByTime(50);
      expect(written()).toBe(250);
      vi.advanceTimersByTime(200);
      expect(opened.at(-1)?.client.writes).toBe((before.at(-1) ?? 0) + 1);
      const whole = Array.from({ length: 6 }, (_, event) => `data: ${event}\n\n`).join("");
      expect(opened.filter(({ client }) => client.body() !== `: open\n\n${whole}`)).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("cut off a client that does not read, and keep little for it until then", async () => {
    const { open } = openStreams();
    const { client, raw, stream } = open();
    const reader = open();
    client.reads = false;
    const text = `data: ${"x".repeat(1000)}\n\n`;
    let sent = 0;
    for (; sent < 1000 && !raw.destroyed; sent += 1) {
      stream.send(text);
      reader.stream.send(text);
      await nextTurn();
    }
    expect(raw.destroyed).toBe(true);
    expect(sent * text.length).toBeLessThan(600_000);
    expect(reader.raw.destroyed).toBe(false);
  });

  test("wait for a client that does not read with one listener", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { open } = openStreams();
      const { client, stream } = open();
      client.reads = false;
      for (let event = 0; event < 120; event += 1) {
        stream.send(`data: ${"x".repeat(1000)}\n\n`);
        await nextTurn();
        vi.advanceTimersByTime(50);
      }
      expect(client.writableNeedDrain).toBe(true);
      expect(client.listenerCount("drain")).toBeLessThanOrEqual(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test("keep little for a stream behind another response of its connection, and write it when its turn comes", async () => {
    const { open } = openStreams();
    const [waits, floods] = [open({ isQueued: true }), open({ isQueued: true })];
    waits.stream.send("data: 1\n\n");
    const text = `data: ${"x".repeat(1000)}\n\n`;
    for (let sent = 0; sent < 1000; sent += 1) floods.stream.send(text);
    await nextTurn();
    expect([floods.raw.destroyed, floods.client.destroyed]).toEqual([true, true]);
    expect(floods.raw.writableLength).toBeLessThan(2000);
    waits.raw.assignSocket(waits.client as unknown as Socket);
    (waits.raw as unknown as { _flush(): void })._flush();
    await eventually(
      () => waits.client.body(),
      (body) => body === ": open\n\ndata: 1\n\n",
    );
  });

  test("a client that reads again gets everything in order", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { open } = openStreams();
      const { client, stream } = open();
      client.reads = false;
      const texts = Array.from({ length: 50 }, (_, index) => `data: ${index} ${"x".repeat(1000)}\n\n`);
      for (const text of texts) {
        stream.send(text);
        await nextTurn();
        vi.advanceTimersByTime(50);
      }
      client.read_();
      for (let turn = 0; turn < 20; turn += 1) {
        await nextTurn();
        vi.advanceTimersByTime(50);
      }
      expect(client.body()).toBe(`: open\n\n${texts.join("")}`);
    } finally {
      vi.useRealTimers();
    }
  });

  test("with the same credential are authorized by one check, and end together", async () => {
    const { clock, open, checks } = openStreams();
    let isAuthorized = true;
    const opened = Array.from({ length: 20 }, () => open({ isAuthorized: () => isAuthorized }));
    const other = open({ apikey: "another" });
    clock.advance(3000);
    await nextTurn();
    expect(checks()).toBe(2);
    isAuthorized = false;
    clock.advance(3000);
    await nextTurn();
    expect(opened.every(({ raw }) => raw.writableEnded)).toBe(true);
    expect(other.raw.writableEnded).toBe(false);
  });

  test("of another role are authorized by a check of their own", async () => {
    const { clock, open, checks } = openStreams();
    open({ caller: callerWith({ role: "member" }) });
    open({ caller: callerWith({ role: "viewer" }) });
    clock.advance(3000);
    await nextTurn();
    expect(checks()).toBe(2);
  });

  test("are limited per account, and to half of it per key and per address", () => {
    const { open } = openStreams({ perAccountMax: 6 });
    const address = (last: number): string => `192.0.2.${last}`;
    const refusal = (given: Parameters<typeof open>[0]): string => {
      try {
        open(given);
        return "";
      } catch (error) {
        return error instanceof Problem ? `${error.code} ${error.status} ${error.message}` : String(error);
      }
    };
    const first = [1, 2, 3].map((last) => open({ address: address(last) }));
    expect(refusal({ address: address(4) })).toMatch(
      /^TOO_MANY_STREAMS 429 This API key has 3 open streams.*HELIOGRAPH_STREAMS_MAX/,
    );
    for (const id of ["b", "c", "d"]) open({ caller: callerWith({ id }), address: address(5) });
    expect(refusal({ caller: callerWith({ id: "e" }), address: address(6) })).toContain("The account has 6");
    const elsewhere = callerWith({ account: 2 });
    expect(refusal({ caller: elsewhere, address: address(5) })).toContain("This address has 3");
    expect(refusal({ caller: elsewhere, address: address(6) })).toBe("");
    first[0]?.raw.emit("close");
    expect(refusal({ address: address(7) })).toBe("");
  });
});
