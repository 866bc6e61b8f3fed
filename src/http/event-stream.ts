import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../lib/clock.ts";
import { isUuid } from "../lib/ids.ts";
import { rateLimitKey } from "../lib/network.ts";
import { Problem } from "../model/problem.ts";
import { textParameter } from "./parameters.ts";
import type { AuthenticCall } from "./route.ts";
import { hideNumbers, seesMasked } from "./hide-numbers.ts";
import { callerOf, clientAddressOf, isStillAuthorized } from "./auth/request-caller.ts";

const SWEEP_MS = 1000;
const KEEP_ALIVE_MS = 15_000;
/** Interval of authorization checks: a stream ends when its key or session ends or changes its role. */
const REAUTHORIZE_MS = 3000;
/** Lifetime of a stream; clients reconnect and continue from their last event. */
const STREAM_MS = 600_000;
/** A client that is this far behind is disconnected; it reconnects and fetches the missed events. */
const UNREAD_BYTES_MAX = 262_144;
/** Up to this many streams are written at once, then the next ones after a pause: 2,000 streams once a second. */
const WRITES_AT_ONCE = 100;
const WRITE_PAUSE_MS = 50;

const KEEP_ALIVE = ": breath\n\n";
const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** Parameters by which a client of any stream continues after its last event. */
export const RESUME_PARAMETERS = {
  headers: { "Last-Event-ID": textParameter("`id` of the last event received.", EXAMPLE_ID) },
  query: {
    after: textParameter(
      "Same as the header, for clients that cannot set headers. The header takes precedence.",
      EXAMPLE_ID,
    ),
  },
};

/** Id of the last event that the client received; null for a new client, or without a valid id. */
export function lastEventId({ request, query }: Pick<AuthenticCall, "request" | "query">): string | null {
  const last = request.headers["last-event-id"] ?? query.after;
  return typeof last === "string" && isUuid(last) ? last : null;
}

const formatEvent = (event: string, id: string, data: unknown): string =>
  `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

/** Formats the events of one kind. Each is serialised once per view, however many streams get it. */
export function createEventFormatter<T extends { id: string }>(
  event: string,
  dataOf: (source: T, caller: Caller) => object,
): (source: T, caller: Caller) => string {
  const plain = new WeakMap<T, string>();
  const masked = new WeakMap<T, string>();
  return (source, caller) => {
    const isMasked = seesMasked(caller);
    const texts = isMasked ? masked : plain;
    const known = texts.get(source);
    if (known !== undefined) return known;
    const data = dataOf(source, caller);
    const text = formatEvent(event, source.id, isMasked ? hideNumbers(data, null) : data);
    texts.set(source, text);
    return text;
  };
}

export interface EventStream {
  /** Sends the text of an event; texts of one moment leave in one write. */
  send(text: string): void;
  end(): void;
  onClose(run: () => void): void;
}

interface StreamDeps {
  clock: Clock;
  stopping: AbortSignal;
  /** Streams of one account. One caller and one address have half of them. */
  perAccountMax: number;
}

/** All server-sent event streams of this node. They share one timer, and one authorization check per credential. */
export class EventStreams {
  readonly #deps: StreamDeps;
  readonly #streams = new Set<OpenStream>();
  readonly #counts = new Map<string, number>();
  /** Streams with text to write, in order. */
  readonly #unwritten = new Set<OpenStream>();
  #isSweepScheduled = false;
  #isWriteScheduled = false;
  readonly #join = createJoin();
  readonly #frame = createFrame();

  constructor(deps: StreamDeps) {
    this.#deps = deps;
    deps.stopping.addEventListener("abort", () => {
      for (const stream of this.#streams) stream.end();
    });
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Turns a response into server-sent events. Throws if the caller has too many streams. */
  open(reply: FastifyReply, caller: Caller | null = callerOf(reply.request)): EventStream {
    const { clock, stopping } = this.#deps;
    const names = this.#count(reply.request, caller);
    reply.hijack();
    const stream = new OpenStream(reply, clock.monotonic(), {
      join: this.#join,
      frame: this.#frame,
      onText: () => this.#writeSoon(stream),
    });
    this.#streams.add(stream);
    stream.onClose(() => {
      this.#streams.delete(stream);
      this.#unwritten.delete(stream);
      for (const name of names) this.#release(name);
    });
    if (stopping.aborted) stream.end();
    this.#scheduleSweep();
    return stream;
  }

  /** Counts a stream for its account, its caller and its address, or refuses it. */
  #count(request: FastifyRequest, caller: Caller | null): string[] {
    if (!caller) return [];
    const { perAccountMax } = this.#deps;
    const half = Math.ceil(perAccountMax / 2);
    const { account, actor } = caller;
    const limits = [
      { name: `account ${account.id}`, max: perAccountMax, holder: "The account" },
      {
        name: `${actor.kind} ${account.id} ${actor.id}`,
        max: half,
        holder: actor.kind === "user" ? "You" : "This API key",
      },
      { name: `address ${rateLimitKey(clientAddressOf(request))}`, max: half, holder: "This address" },
    ];
    for (const { name, max, holder } of limits) {
      if ((this.#counts.get(name) ?? 0) < max) continue;
      const has = holder === "You" ? "have" : "has";
      throw new Problem("TOO_MANY_STREAMS", {
        message: `${holder} ${has} ${max} open streams, the most allowed: close one first. HELIOGRAPH_STREAMS_MAX sets the limit.`,
      });
    }
    for (const { name } of limits) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return limits.map(({ name }) => name);
  }

  #release(name: string): void {
    const count = (this.#counts.get(name) ?? 0) - 1;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }

  #writeSoon(stream: OpenStream): void {
    this.#unwritten.add(stream);
    if (this.#isWriteScheduled) return;
    this.#isWriteScheduled = true;
    setImmediate(this.#write);
  }

  /** Few streams are written at the end of the turn. With many, each collects its events until it is its turn. */
  readonly #write = (): void => {
    let writes = 0;
    for (const stream of this.#unwritten) {
      if (writes === WRITES_AT_ONCE) break;
      this.#unwritten.delete(stream);
      stream.write();
      writes += 1;
    }
    this.#isWriteScheduled = writes > 0;
    if (this.#isWriteScheduled) setTimeout(this.#write, WRITE_PAUSE_MS).unref();
  };

  #scheduleSweep(): void {
    if (this.#isSweepScheduled) return;
    this.#isSweepScheduled = true;
    this.#deps.clock.after(SWEEP_MS, () => {
      this.#isSweepScheduled = false;
      this.#sweep();
      if (this.#streams.size > 0) this.#scheduleSweep();
    });
  }

  #sweep(): void {
    const now = this.#deps.clock.monotonic();
    const due: OpenStream[] = [];
    for (const stream of this.#streams) {
      if (now - stream.openedAt >= STREAM_MS) {
        stream.end();
        continue;
      }
      if (now - stream.keptAliveAt >= KEEP_ALIVE_MS) {
        stream.keptAliveAt = now;
        stream.send(KEEP_ALIVE);
      }
      if (now - stream.authorizedAt >= REAUTHORIZE_MS) {
        stream.authorizedAt = now;
        due.push(stream);
      }
    }
    for (const streams of Map.groupBy(due, ({ credential }) => credential).values()) void endUnauthorized(streams);
  }
}

async function endUnauthorized(streams: readonly OpenStream[]): Promise<void> {
  const [first] = streams;
  if (!first || (await isStillAuthorized(first.request))) return;
  for (const stream of streams) stream.end();
}

interface OpenStreamDeps {
  join(pending: string, text: string): string;
  frame(text: string): string;
  onText(): void;
}

class OpenStream implements EventStream {
  readonly request: FastifyRequest;
  readonly openedAt: number;
  /** Streams with equal credentials are authorized by one check. */
  readonly credential: string;
  keptAliveAt: number;
  authorizedAt: number;
  readonly #raw: ServerResponse;
  readonly #deps: OpenStreamDeps;
  #pending = "";
  #isWaiting = false;

  constructor({ request, raw }: FastifyReply, now: number, deps: OpenStreamDeps) {
    this.request = request;
    this.openedAt = now;
    this.keptAliveAt = now;
    this.authorizedAt = now;
    this.credential = credentialOf(request);
    this.#raw = raw;
    this.#deps = deps;
    raw.on("error", () => raw.destroy());
    raw.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      // The connection must not stay open for a next request when the server stops. HTTP/2 has no such header.
      ...(streamOf(raw) ? {} : { connection: "close" }),
    });
    if (!raw.destroyed) raw.write(": open\n\n");
  }

  send(text: string): void {
    // The client may have left, or a stop may have ended the stream, before the last event.
    if (this.#raw.writableEnded || this.#raw.destroyed) return;
    this.#pending = this.#deps.join(this.#pending, text);
    if (this.#pending.length <= UNREAD_BYTES_MAX) return this.#deps.onText();
    if (this.#isWritable) this.write();
    else this.#cutOff();
  }

  /** Destroying a queued response alone would leave its connection open without an end. */
  #cutOff(): void {
    this.#raw.destroy();
    if (!streamOf(this.#raw)) this.#raw.req.socket.destroy();
  }

  /** False while the client does not read, or while this response waits behind an earlier one of its connection. */
  get #isWritable(): boolean {
    const output = outputOf(this.#raw);
    return output !== null && !output.writableNeedDrain;
  }

  /** A client that does not read keeps its text here, where it is shared with other streams, until it is cut off. */
  write(): void {
    if (this.#pending === "" || this.#raw.writableEnded || this.#raw.destroyed) return;
    if (this.#isWritable) this.#flush();
    else this.#writeLater();
  }

  #flush(): void {
    const raw = this.#raw;
    const { socket } = raw;
    const text = this.#pending;
    this.#pending = "";
    // Node's response would build and join three buffers per stream for the same chunk of the transfer encoding.
    if (socket && raw.writableLength === 0 && raw.chunkedEncoding) socket.write(this.#deps.frame(text));
    else raw.write(text);
  }

  #writeLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    const onWritable = (): void => {
      this.#isWaiting = false;
      this.#deps.onText();
    };
    const output = outputOf(this.#raw);
    if (output) output.once("drain", onWritable);
    else this.#raw.once("socket", onWritable);
  }

  end(): void {
    if (this.#raw.writableEnded) return;
    if (this.#pending !== "" && !this.#raw.destroyed) this.#flush();
    this.#raw.end();
  }

  onClose(run: () => void): void {
    // A client that left during authentication has emitted "close" already.
    if (this.#raw.destroyed || this.#raw.closed) run();
    else this.#raw.once("close", run);
  }
}

/** The stream of a response over HTTP/2, which shares its socket with others. */
const streamOf = (raw: ServerResponse): Duplex | undefined => (raw as { stream?: Duplex }).stream;

/** Stream that the response is written to; null while an earlier response of its connection is not complete. */
const outputOf = (raw: ServerResponse): Duplex | null => streamOf(raw) ?? raw.socket;

/** Role and address are part of it, because authorization depends on them. */
function credentialOf(request: FastifyRequest): string {
  const { headers, url } = request;
  const path = url?.split("?", 1)[0];
  return JSON.stringify([path, headers?.apikey, headers?.cookie, clientAddressOf(request), callerOf(request)?.role]);
}

/** Streams that are written together have equal texts: they are joined, flattened and framed once. */
function createJoin(): OpenStreamDeps["join"] {
  let last = { pending: "", text: "", joined: "" };
  return (pending, text) => {
    if (last.pending !== pending || last.text !== text) last = { pending, text, joined: pending + text };
    return last.joined;
  };
}

/** A chunk of HTTP's chunked transfer encoding. */
function createFrame(): OpenStreamDeps["frame"] {
  let last = { text: "", framed: "" };
  return (text) => {
    if (last.text !== text) last = { text, framed: `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n` };
    return last.framed;
  };
}
