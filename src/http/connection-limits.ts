import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Http2ServerResponse, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "../lib/clock.ts";

/** Pipelined requests without a response per connection; at the limit the connection is not read. */
export const PENDING_MAX = 32;
/** A client that reads nothing of its response for this long is disconnected. */
const STALLED_MS = 60_000;
/** The same while `bufferedBytesMax` is reached: unread responses then block other clients. */
const STALLED_WHILE_FULL_MS = 2000;
const SWEEP_MS = 1000;
/** Longer gaps between sweeps count as this: while the event loop is blocked, reading clients look stalled. */
const ELAPSED_MAX_MS = 20_000;

const HEAD_END = Buffer.from("\r\n\r\n");

interface Limits {
  /** Response bytes in memory over all connections. Shared bodies, such as assets, do not count: they exist once. */
  bufferedBytesMax: number;
}

/**
 * Backpressure for Node's HTTP server. By itself it starts a handler for every pipelined request of a chunk, which may hold a
 * thousand requests. It keeps all their responses until the client reads: 510 KB of requests took 3 GB of memory.
 */
export class ConnectionLimits {
  readonly #clock: Clock;
  readonly #bufferedBytesMax: number;
  readonly #connections = new WeakMap<object, PacedConnection>();
  readonly #sessions = new WeakMap<object, Http2Streams>();
  /** Connections with an unread response. */
  readonly #unread = new Set<PacedConnection | Http2Streams>();
  readonly #totals = { pending: 0, bytes: 0 };
  #sweptAt: number;
  /** A response found no room since the last sweep. */
  #refused = false;

  constructor(clock: Clock, { bufferedBytesMax }: Limits) {
    this.#clock = clock;
    this.#sweptAt = clock.monotonic();
    this.#bufferedBytesMax = bufferedBytesMax;
  }

  /** Requests without a complete response. */
  get pending(): number {
    return this.#totals.pending;
  }

  /** Response bytes that clients have not read. */
  get bufferedBytes(): number {
    return this.#totals.bytes;
  }

  get isFull(): boolean {
    return this.#totals.bytes >= this.#bufferedBytesMax;
  }

  hasRoomFor(bytes: number): boolean {
    const fits = this.#totals.bytes + bytes <= this.#bufferedBytesMax;
    if (!fits) this.#refused = true;
    return fits;
  }

  /** Counts the bytes of a response until its client has read it. */
  buffer(response: ServerResponse, bytes: number): void {
    const { stream } = response as unknown as Partial<Http2ServerResponse>;
    if (!stream) this.#connections.get(response.req.socket)?.buffer(response, bytes);
    else if (stream.session) this.#sessions.get(stream.session)?.buffer(response, bytes);
  }

  /** Counts a request of HTTP/2 until its response is read. */
  beginStream(session: ServerHttp2Session, response: Http2ServerResponse): void {
    const streams = this.#sessions.get(session) ?? new Http2Streams(session, this.#totals, this.#unread);
    this.#sessions.set(session, streams);
    streams.begin(response);
  }

  hasStreams(session: ServerHttp2Session): boolean {
    return this.#sessions.get(session)?.isEmpty === false;
  }

  /** Runs a callback after the responses to earlier requests, so that a malformed request does not cut them off. */
  afterResponses(socket: object, run: () => void): void {
    const connection = this.#connections.get(socket);
    if (connection) connection.afterResponses(run);
    else run();
  }

  applyTo(server: Server): Server {
    server.on("connection", (socket) => {
      this.#connections.set(socket, new PacedConnection(socket, this.#totals, this.#unread));
    });
    server.on("request", (request, response) => this.#connections.get(request.socket)?.begin(request, response));
    let sweeps: NodeJS.Timeout | undefined;
    server.on("listening", () => {
      sweeps = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    });
    server.on("close", () => clearInterval(sweeps));
    return server;
  }

  /** Closes connections whose clients have stopped reading. */
  #sweep(): void {
    const now = this.#clock.monotonic();
    const elapsedMs = Math.min(now - this.#sweptAt, ELAPSED_MAX_MS);
    this.#sweptAt = now;
    const limitMs = this.isFull || this.#refused ? STALLED_WHILE_FULL_MS : STALLED_MS;
    this.#refused = false;
    for (const connection of this.#unread) if (connection.stalledMs(elapsedMs) >= limitMs) connection.destroy();
  }
}

/** The streams of a session of HTTP/2, which itself limits their number and paces the client by flow control. */
class Http2Streams {
  readonly #session: ServerHttp2Session;
  readonly #totals: { pending: number; bytes: number };
  readonly #unread: Set<PacedConnection | Http2Streams>;
  readonly #open = new Set<Http2ServerResponse>();
  #stalledMs = 0;
  /** A request has started or a response has finished since the last sweep. */
  #progressed = false;
  #unsentBytes = 0;

  constructor(
    session: ServerHttp2Session,
    totals: { pending: number; bytes: number },
    unread: Set<PacedConnection | Http2Streams>,
  ) {
    this.#session = session;
    this.#totals = totals;
    this.#unread = unread;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  begin(response: Http2ServerResponse): void {
    this.#open.add(response);
    this.#unread.add(this);
    this.#totals.pending += 1;
    this.#progressed = true;
    response.stream.once("close", () => {
      this.#open.delete(response);
      if (this.isEmpty) this.#unread.delete(this);
      this.#totals.pending -= 1;
      this.#progressed = true;
    });
  }

  buffer(response: ServerResponse, bytes: number): void {
    const { stream } = response as unknown as Http2ServerResponse;
    if (stream.destroyed) return;
    this.#totals.bytes += bytes;
    stream.once("close", () => {
      this.#totals.bytes -= bytes;
    });
  }

  /** Time for which the client has read nothing, updated at each sweep. */
  stalledMs(elapsedMs: number): number {
    let unsentBytes = 0;
    for (const { stream } of this.#open) unsentBytes += stream.bufferSize + stream.writableLength;
    const isRead = this.#progressed || unsentBytes < this.#unsentBytes || unsentBytes === 0;
    this.#stalledMs = isRead ? 0 : this.#stalledMs + elapsedMs;
    this.#progressed = false;
    this.#unsentBytes = unsentBytes;
    return this.#stalledMs;
  }

  destroy(): void {
    this.#session.destroy();
  }
}

/** A connection that Node's parser gets request by request, and only as fast as its client reads responses. */
class PacedConnection {
  readonly #socket: Socket;
  readonly #totals: { pending: number; bytes: number };
  readonly #unread: Set<PacedConnection | Http2Streams>;
  readonly #parse: (chunk: Buffer) => void;
  readonly #pause: () => void;
  readonly #resume: () => void;
  /** Responses that have not emitted "close". */
  readonly #open = new Set<ServerResponse>();
  #pending = 0;
  #bytes = 0;
  #last: IncomingMessage | null = null;
  /** Callback that ends the connection once `pending` or fewer requests are left. Nothing is parsed from then on. */
  #ending: { pending: number; run: () => void } | null = null;
  /** Node has paused the socket, because the body or the responses are not read fast enough. */
  #pausedByNode = false;
  /** Too many requests are pending; the rest of the input waits in the stream. */
  #isPaused = false;
  #stalledMs = 0;
  /** A request has started or a response has finished since the last sweep. */
  #progressed = false;
  /** At the last sweep. It falls when the client reads, and grows with events of a stream. */
  #writableLength = 0;

  constructor(socket: Socket, totals: { pending: number; bytes: number }, unread: Set<PacedConnection | Http2Streams>) {
    this.#socket = socket;
    this.#totals = totals;
    this.#unread = unread;
    // Replaces Node's own listener, which is the last, so that it gets one request at a time.
    const parse = socket.listeners("data").at(-1) as (chunk: Buffer) => void;
    socket.off("data", parse).on("data", this.#read).once("close", this.#onClose);
    this.#parse = parse;
    const pause = socket.pause.bind(socket);
    const resume = socket.resume.bind(socket);
    this.#pause = pause;
    this.#resume = resume;
    // Node and this class pause the socket independently; it flows only while neither does.
    socket.pause = () => {
      this.#pausedByNode = true;
      return pause();
    };
    socket.resume = () => {
      this.#pausedByNode = false;
      return this.#isPaused ? socket : resume();
    };
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#open.add(response);
    response.once("close", () => this.#open.delete(response));
    if (this.#socket.destroyed) return;
    this.#last = request;
    this.#pending += 1;
    this.#totals.pending += 1;
    if (this.#pending === 1) {
      this.#unread.add(this);
      this.#progressed = true;
    }
    response.once("close", () => this.#end());
  }

  afterResponses(run: () => void): void {
    // An incomplete request is the malformed one and gets no response of its own.
    const incomplete = this.#last && !this.#last.complete ? 1 : 0;
    this.#ending = { pending: incomplete, run };
    this.#runEnding();
  }

  #runEnding(): void {
    if (!this.#ending || this.#pending > this.#ending.pending) return;
    const { run } = this.#ending;
    this.#ending = { pending: -1, run: () => {} };
    run();
  }

  buffer(response: ServerResponse, bytes: number): void {
    if (this.#socket.destroyed) return;
    this.#bytes += bytes;
    this.#totals.bytes += bytes;
    response.once("close", () => this.#release(bytes));
  }

  /** Time for which the client has read nothing, updated at each sweep. */
  stalledMs(elapsedMs: number): number {
    const { writableLength } = this.#socket;
    const isRead = this.#progressed || writableLength < this.#writableLength || writableLength === 0;
    this.#stalledMs = isRead ? 0 : this.#stalledMs + elapsedMs;
    this.#progressed = false;
    this.#writableLength = writableLength;
    return this.#stalledMs;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Gives the parser one head at a time. A body that contains an empty line is only split into more chunks. */
  readonly #read = (chunk: Buffer): void => {
    for (let at = 0; at < chunk.length;) {
      // Nothing is parsed after an error or a response that closes the connection.
      if (!this.#socket.writable || this.#ending) return;
      this.#isPaused = this.#pending >= PENDING_MAX;
      if (this.#isPaused || this.#pausedByNode) {
        this.#pause();
        this.#socket.unshift(chunk.subarray(at));
        return;
      }
      const head = chunk.indexOf(HEAD_END, at);
      const end = head < 0 ? chunk.length : head + HEAD_END.length;
      this.#parse(chunk.subarray(at, end));
      at = end;
    }
  };

  #end(): void {
    if (this.#pending === 0) return;
    this.#pending -= 1;
    this.#totals.pending -= 1;
    this.#progressed = true;
    if (this.#pending === 0) this.#unread.delete(this);
    this.#runEnding();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#pausedByNode) this.#resume();
  }

  #release(bytes: number): void {
    const released = Math.min(bytes, this.#bytes);
    this.#bytes -= released;
    this.#totals.bytes -= released;
  }

  /**
   * Not every Node version emits "close" for the queued responses of pipelined requests (20.20 does not, 24.21 does), so
   * they are closed here: what they hold, such as room for a body or a stream's slot, is released by that event.
   */
  readonly #onClose = (): void => {
    this.#totals.pending -= this.#pending;
    this.#totals.bytes -= this.#bytes;
    this.#pending = 0;
    this.#bytes = 0;
    this.#unread.delete(this);
    for (const response of this.#open) if (!response.socket) closeQueued(response);
    this.#open.clear();
  };
}

/** Does what Node does with the response that has the socket. A response marked as closed emits the event only once. */
function closeQueued(response: ServerResponse): void {
  Object.assign(response, { destroyed: true, _closed: true });
  response.emit("close");
}
