import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { Queue } from "../src/lib/queue.ts";
import { Latencies } from "./latencies.ts";

/**
 * Customer in its own process: sends requests at their due time (open loop) and is the webhook endpoint for their
 * receipts. One clock therefore measures the time from a response to its callback.
 */

export interface Stream {
  name: string;
  connections: number;
  /**
   * Requests per second. If absent, each connection sends its next request as soon as it has a response (closed loop).
   */
  rate?: number;
  request: string;
  /** A due request that finds no free connection within this time is dropped. If absent, it waits. */
  dropAfterMs?: number;
}

export interface StartCommand {
  port: number;
  streams: readonly Stream[];
}

export interface Times {
  p50: number;
  p99: number;
  p999: number;
}

export interface StreamSample extends Times {
  name: string;
  due: number;
  accepted: number;
  /** Responses 429 or 503 with Retry-After. */
  refused: number;
  /** All other responses and socket errors, by status or message. */
  violations: Readonly<Record<string, number>>;
  /** Dropped because no connection was free. */
  dropped: number;
  /** Sent and not yet answered. */
  inFlight: number;
}

export interface CustomerSample {
  /** Counts are cumulative; latencies cover the time since the previous sample. */
  streams: readonly StreamSample[];
  calledBack: number;
  callback: Times;
  /** Accepted without a callback so far. */
  outstanding: number;
  /** Repeated callbacks, and callbacks for messages that this customer has no response for. */
  unexpected: number;
  /** Latencies since the last "begin". */
  total: { accept: Readonly<Record<string, Times>>; callback: Times };
}

const HEAD_END = Buffer.from("\r\n\r\n");
const ID_KEY = Buffer.from('"messageId":"');
const ID_LENGTH = 36;
/** The response to a send begins with its id. */
const ID_AT = '{"id":"'.length;
const TICK_MS = 1;
const CONNECT_BATCH = 100;
const OK = "200";

const answeredAt = new Map<string, number>();
const earlyCallbacks = new Set<string>();
let calledBack = 0;
let unexpected = 0;
const callbackTimes = new Latencies();
const allCallbackTimes = new Latencies();

function onAccepted(id: string, now: number): void {
  // The callback can be read before the response, although the response was written first.
  if (earlyCallbacks.delete(id)) return countCallback(0);
  answeredAt.set(id, now);
}

function onCallback(id: string, now: number): void {
  const since = answeredAt.get(id);
  if (since === undefined) return void (earlyCallbacks.has(id) ? (unexpected += 1) : earlyCallbacks.add(id));
  answeredAt.delete(id);
  countCallback(now - since);
}

function countCallback(ms: number): void {
  calledBack += 1;
  callbackTimes.add(ms);
  allCallbackTimes.add(ms);
}

class StreamSender {
  readonly stream: Stream;
  readonly #bytes: Buffer;
  readonly #port: number;
  /** FIFO, so that no connection idles long enough for the server to close it. */
  readonly #idle = new Queue<ClientConnection>();
  readonly #waiting = new Queue<number>();
  readonly #times = new Latencies();
  readonly #allTimes = new Latencies();
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #issued = 0;
  #stopped = false;
  #accepted = 0;
  #refused = 0;
  #dropped = 0;
  #inFlight = 0;
  readonly #violations: Record<string, number> = {};

  constructor(stream: Stream, port: number) {
    this.stream = stream;
    this.#bytes = Buffer.from(stream.request);
    this.#port = port;
  }

  async begin(): Promise<void> {
    const connections: ClientConnection[] = [];
    for (let opened = 0; opened < this.stream.connections; opened += CONNECT_BATCH) {
      const some = Math.min(CONNECT_BATCH, this.stream.connections - opened);
      connections.push(
        ...(await Promise.all(Array.from({ length: some }, () => ClientConnection.open(this.#port, this)))),
      );
    }
    this.#startedAt = performance.now();
    if (this.stream.rate === undefined) {
      for (const connection of connections) this.#send(connection, performance.now());
      return;
    }
    for (const connection of connections) this.#idle.push(connection);
    this.#timer = setInterval(() => this.#issue(this.stream.rate ?? 0), TICK_MS);
  }

  #issue(rate: number): void {
    const now = performance.now();
    const due = Math.floor(((now - this.#startedAt) * rate) / 1000);
    for (; this.#issued < due; this.#issued += 1) {
      const dueAt = this.#startedAt + (this.#issued * 1000) / rate;
      const connection = this.#idle.shift();
      if (connection) this.#send(connection, dueAt);
      else this.#waiting.push(dueAt);
    }
    const { dropAfterMs } = this.stream;
    if (dropAfterMs === undefined) return;
    for (
      let first = this.#waiting.peek();
      first !== undefined && first < now - dropAfterMs;
      first = this.#waiting.peek()
    ) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
  }

  #send(connection: ClientConnection, dueAt: number): void {
    this.#inFlight += 1;
    connection.send(this.#bytes, dueAt);
  }

  onResponse(connection: ClientConnection, dueAt: number, status: string, id: string, hasRetryAfter: boolean): void {
    const now = performance.now();
    this.#inFlight -= 1;
    if (status === OK) {
      this.#accepted += 1;
      this.#times.add(now - dueAt);
      this.#allTimes.add(now - dueAt);
      onAccepted(id, now);
    } else if ((status === "429" || status === "503") && hasRetryAfter) this.#refused += 1;
    else this.countViolation(hasRetryAfter ? status : `${status} without Retry-After`);
    if (this.#stopped) return connection.end();
    const next = this.stream.rate === undefined ? now : this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else this.#send(connection, next);
  }

  countViolation(reason: string): void {
    this.#violations[reason] = (this.#violations[reason] ?? 0) + 1;
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (let connection = this.#idle.shift(); connection; connection = this.#idle.shift()) connection.end();
    while (this.#waiting.shift() !== undefined) this.#dropped += 1;
  }

  sample(): StreamSample {
    const times = timesOf(this.#times);
    this.#times.clear();
    const answered = this.#accepted + this.#refused + Object.values(this.#violations).reduce((sum, n) => sum + n, 0);
    return {
      name: this.stream.name,
      due: this.stream.rate === undefined ? answered + this.#inFlight : this.#issued,
      accepted: this.#accepted,
      refused: this.#refused,
      violations: { ...this.#violations },
      dropped: this.#dropped,
      inFlight: this.#inFlight,
      ...times,
    };
  }

  total(): Times {
    return timesOf(this.#allTimes);
  }
}

/** One connection with one request at a time. */
class ClientConnection {
  readonly #socket: Socket;
  readonly #sender: StreamSender;
  #dueAt = 0;
  #unread: Buffer = Buffer.alloc(0);
  /** Responses of one kind have the same length. A chunk of that length is complete, so its head is not parsed. */
  #expectedLength = 0;
  #expectedIdAt = 0;

  private constructor(socket: Socket, sender: StreamSender) {
    this.#socket = socket;
    this.#sender = sender;
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", ({ message }) => sender.countViolation(message));
  }

  static open(port: number, sender: StreamSender): Promise<ClientConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.off("error", reject);
        resolve(new ClientConnection(socket, sender));
      });
      socket.setNoDelay(true);
      socket.once("error", reject);
    });
  }

  send(bytes: Buffer, dueAt: number): void {
    this.#dueAt = dueAt;
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.end();
  }

  #read(chunk: Buffer): void {
    if (chunk.length === this.#expectedLength && this.#unread.length === 0 && chunk.toString("latin1", 9, 12) === OK) {
      const id = chunk.toString("latin1", this.#expectedIdAt, this.#expectedIdAt + ID_LENGTH);
      return this.#sender.onResponse(this, this.#dueAt, OK, id, true);
    }
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    const headEnd = this.#unread.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#unread.toString("latin1", 0, headEnd);
    const bodyAt = headEnd + HEAD_END.length;
    const length = bodyAt + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#unread.length < length) return;
    const status = head.slice(9, 12);
    if (status === OK) {
      this.#expectedLength = length;
      this.#expectedIdAt = bodyAt + ID_AT;
    }
    const id = this.#unread.toString("latin1", bodyAt + ID_AT, bodyAt + ID_AT + ID_LENGTH);
    this.#unread = this.#unread.subarray(length);
    this.#sender.onResponse(this, this.#dueAt, status, id, status === OK || /\r\nretry-after: \d+/i.test(head));
  }
}

const OK_RESPONSE = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\nKeep-Alive: timeout=30\r\n\r\n{"ok":true}',
);
const endpoint = createServer({ noDelay: true }, (socket) => {
  let unread: Buffer = Buffer.alloc(0);
  let expectedLength = 0;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    let whole: Buffer = chunk;
    if (chunk.length !== expectedLength || unread.length > 0) {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      const headEnd = unread.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const length =
        headEnd +
        HEAD_END.length +
        Number(/content-length: (\d+)/i.exec(unread.toString("latin1", 0, headEnd))?.[1] ?? 0);
      if (unread.length < length) return;
      expectedLength = length;
      whole = unread.subarray(0, length);
      unread = unread.subarray(length);
    }
    const at = whole.indexOf(ID_KEY) + ID_KEY.length;
    onCallback(whole.toString("latin1", at, at + ID_LENGTH), performance.now());
    socket.write(OK_RESPONSE);
  });
});

const timesOf = (latencies: Latencies): Times => ({
  p50: latencies.quantile(0.5),
  p99: latencies.quantile(0.99),
  p999: latencies.quantile(0.999),
});

let senders: StreamSender[] = [];

async function begin({ port, streams }: StartCommand): Promise<void> {
  allCallbackTimes.clear();
  senders = streams.map((stream) => new StreamSender(stream, port));
  await Promise.all(senders.map((sender) => sender.begin()));
}

function sample(): CustomerSample {
  const callback = timesOf(callbackTimes);
  callbackTimes.clear();
  return {
    streams: senders.map((sender) => sender.sample()),
    calledBack,
    callback,
    outstanding: answeredAt.size,
    unexpected: unexpected + earlyCallbacks.size,
    total: {
      accept: Object.fromEntries(senders.map((sender) => [sender.stream.name, sender.total()])),
      callback: timesOf(allCallbackTimes),
    },
  };
}

process.on("message", (command: StartCommand | "sample" | "stop") => {
  if (command === "sample") return void process.send?.(sample());
  if (command === "stop") return senders.forEach((sender) => sender.stop());
  void begin(command).then(() => process.send?.("begun"));
});
endpoint.listen(0, "127.0.0.1", () => process.send?.((endpoint.address() as AddressInfo).port));
process.once("disconnect", () => process.exit());
