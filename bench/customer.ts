import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { Queue } from "../src/lib/queue.ts";
import { Latencies } from "./latencies.ts";

/**
 * A customer as a process of its own, who asks and is told: it sends requests when they are due, whatever became of those
 * before, and is the endpoint that hears what became of each. So the time from an answer to its callback is known by one clock.
 */

export interface Stream {
  name: string;
  connections: number;
  /** Requests per second; without it every connection asks as soon as it is answered. */
  rate?: number;
  request: string;
  /** A request that finds no connection for so long is never sent; without it, it waits. */
  giveUpMs?: number;
}

export interface Orders {
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
  /** 429 or 503 that say when to try again. */
  refused: number;
  /** Any other answer, by what it was. */
  violations: Readonly<Record<string, number>>;
  /** Never sent, because no connection was free. */
  given: number;
  /** Sent and not answered. */
  underWay: number;
}

export interface CustomerSample {
  /** What has come since the beginning; times are those since the last sample. */
  streams: readonly StreamSample[];
  calledBack: number;
  callback: Times;
  /** Accepted and not called back. */
  outstanding: number;
  /** Called back more than once, or never accepted as far as this customer knows. */
  unexpected: number;
  /** Times since the last "begin". */
  total: { accept: Readonly<Record<string, Times>>; callback: Times };
}

const HEAD_END = Buffer.from("\r\n\r\n");
const ID_KEY = Buffer.from('"messageId":"');
const ID_LENGTH = 36;
/** An answer to a send begins with its id. */
const ID_AT = '{"id":"'.length;
const TICK_MS = 1;
const OPENED_AT_ONCE = 100;
const OK = "200";

const answeredAt = new Map<string, number>();
const early = new Set<string>();
let calledBack = 0;
let unexpected = 0;
const callbackTimes = new Latencies();
const allCallbackTimes = new Latencies();

function onAccepted(id: string, now: number): void {
  // A callback may be read before the answer that left before it.
  if (early.delete(id)) return onTold(0);
  answeredAt.set(id, now);
}

function onCallback(id: string, now: number): void {
  const since = answeredAt.get(id);
  if (since === undefined) return void (early.has(id) ? (unexpected += 1) : early.add(id));
  answeredAt.delete(id);
  onTold(now - since);
}

function onTold(ms: number): void {
  calledBack += 1;
  callbackTimes.add(ms);
  allCallbackTimes.add(ms);
}

class Asking {
  readonly stream: Stream;
  readonly #bytes: Buffer;
  readonly #port: number;
  /** First in, first out: a connection that is never used would be cut off. */
  readonly #idle = new Queue<Caller>();
  readonly #waiting = new Queue<number>();
  readonly #times = new Latencies();
  readonly #allTimes = new Latencies();
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #issued = 0;
  #stopped = false;
  #accepted = 0;
  #refused = 0;
  #given = 0;
  #underWay = 0;
  readonly #violations: Record<string, number> = {};

  constructor(stream: Stream, port: number) {
    this.stream = stream;
    this.#bytes = Buffer.from(stream.request);
    this.#port = port;
  }

  async begin(): Promise<void> {
    const callers: Caller[] = [];
    for (let opened = 0; opened < this.stream.connections; opened += OPENED_AT_ONCE) {
      const some = Math.min(OPENED_AT_ONCE, this.stream.connections - opened);
      callers.push(...(await Promise.all(Array.from({ length: some }, () => Caller.open(this.#port, this)))));
    }
    this.#startedAt = performance.now();
    if (this.stream.rate === undefined) {
      for (const caller of callers) this.#send(caller, performance.now());
      return;
    }
    for (const caller of callers) this.#idle.push(caller);
    this.#timer = setInterval(() => this.#issue(this.stream.rate ?? 0), TICK_MS);
  }

  #issue(rate: number): void {
    const now = performance.now();
    const due = Math.floor(((now - this.#startedAt) * rate) / 1000);
    for (; this.#issued < due; this.#issued += 1) {
      const dueAt = this.#startedAt + (this.#issued * 1000) / rate;
      const caller = this.#idle.shift();
      if (caller) this.#send(caller, dueAt);
      else this.#waiting.push(dueAt);
    }
    const { giveUpMs } = this.stream;
    if (giveUpMs === undefined) return;
    for (
      let first = this.#waiting.peek();
      first !== undefined && first < now - giveUpMs;
      first = this.#waiting.peek()
    ) {
      this.#waiting.shift();
      this.#given += 1;
    }
  }

  #send(caller: Caller, dueAt: number): void {
    this.#underWay += 1;
    caller.ask(this.#bytes, dueAt);
  }

  onAnswer(caller: Caller, dueAt: number, status: string, id: string, tellsWhen: boolean): void {
    const now = performance.now();
    this.#underWay -= 1;
    if (status === OK) {
      this.#accepted += 1;
      this.#times.add(now - dueAt);
      this.#allTimes.add(now - dueAt);
      onAccepted(id, now);
    } else if ((status === "429" || status === "503") && tellsWhen) this.#refused += 1;
    else this.violate(tellsWhen ? status : `${status} without Retry-After`);
    if (this.#stopped) return caller.end();
    const next = this.stream.rate === undefined ? now : this.#waiting.shift();
    if (next === undefined) this.#idle.push(caller);
    else this.#send(caller, next);
  }

  violate(what: string): void {
    this.#violations[what] = (this.#violations[what] ?? 0) + 1;
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (let caller = this.#idle.shift(); caller; caller = this.#idle.shift()) caller.end();
    while (this.#waiting.shift() !== undefined) this.#given += 1;
  }

  sample(): StreamSample {
    const times = timesOf(this.#times);
    this.#times.clear();
    const asked = this.#accepted + this.#refused + Object.values(this.#violations).reduce((sum, n) => sum + n, 0);
    return {
      name: this.stream.name,
      due: this.stream.rate === undefined ? asked + this.#underWay : this.#issued,
      accepted: this.#accepted,
      refused: this.#refused,
      violations: { ...this.#violations },
      given: this.#given,
      underWay: this.#underWay,
      ...times,
    };
  }

  total(): Times {
    return timesOf(this.#allTimes);
  }
}

/** One connection, one request at a time. */
class Caller {
  readonly #socket: Socket;
  readonly #asking: Asking;
  #dueAt = 0;
  #unread: Buffer = Buffer.alloc(0);
  /** Answers of one kind are all of one length: most are known whole by their size, without a look inside. */
  #usualLength = 0;
  #usualIdAt = 0;

  private constructor(socket: Socket, asking: Asking) {
    this.#socket = socket;
    this.#asking = asking;
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", ({ message }) => asking.violate(message));
  }

  static open(port: number, asking: Asking): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.off("error", reject);
        resolve(new Caller(socket, asking));
      });
      socket.setNoDelay(true);
      socket.once("error", reject);
    });
  }

  ask(bytes: Buffer, dueAt: number): void {
    this.#dueAt = dueAt;
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.end();
  }

  #read(chunk: Buffer): void {
    if (chunk.length === this.#usualLength && this.#unread.length === 0 && chunk.toString("latin1", 9, 12) === OK) {
      const id = chunk.toString("latin1", this.#usualIdAt, this.#usualIdAt + ID_LENGTH);
      return this.#asking.onAnswer(this, this.#dueAt, OK, id, true);
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
      this.#usualLength = length;
      this.#usualIdAt = bodyAt + ID_AT;
    }
    const id = this.#unread.toString("latin1", bodyAt + ID_AT, bodyAt + ID_AT + ID_LENGTH);
    this.#unread = this.#unread.subarray(length);
    this.#asking.onAnswer(this, this.#dueAt, status, id, status === OK || /\r\nretry-after: \d+/i.test(head));
  }
}

const YES = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\nKeep-Alive: timeout=30\r\n\r\n{"ok":true}',
);
const endpoint = createServer({ noDelay: true }, (socket) => {
  let unread: Buffer = Buffer.alloc(0);
  let usualLength = 0;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    let whole: Buffer = chunk;
    if (chunk.length !== usualLength || unread.length > 0) {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      const headEnd = unread.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const length =
        headEnd +
        HEAD_END.length +
        Number(/content-length: (\d+)/i.exec(unread.toString("latin1", 0, headEnd))?.[1] ?? 0);
      if (unread.length < length) return;
      usualLength = length;
      whole = unread.subarray(0, length);
      unread = unread.subarray(length);
    }
    const at = whole.indexOf(ID_KEY) + ID_KEY.length;
    onCallback(whole.toString("latin1", at, at + ID_LENGTH), performance.now());
    socket.write(YES);
  });
});

const timesOf = (latencies: Latencies): Times => ({
  p50: latencies.quantile(0.5),
  p99: latencies.quantile(0.99),
  p999: latencies.quantile(0.999),
});

let asking: Asking[] = [];

async function begin({ port, streams }: Orders): Promise<void> {
  allCallbackTimes.clear();
  asking = streams.map((stream) => new Asking(stream, port));
  await Promise.all(asking.map((each) => each.begin()));
}

function sample(): CustomerSample {
  const callback = timesOf(callbackTimes);
  callbackTimes.clear();
  return {
    streams: asking.map((each) => each.sample()),
    calledBack,
    callback,
    outstanding: answeredAt.size,
    unexpected: unexpected + early.size,
    total: {
      accept: Object.fromEntries(asking.map((each) => [each.stream.name, each.total()])),
      callback: timesOf(allCallbackTimes),
    },
  };
}

process.on("message", (order: Orders | "sample" | "stop") => {
  if (order === "sample") return void process.send?.(sample());
  if (order === "stop") return asking.forEach((each) => each.stop());
  void begin(order).then(() => process.send?.("begun"));
});
endpoint.listen(0, "127.0.0.1", () => process.send?.((endpoint.address() as AddressInfo).port));
process.once("disconnect", () => process.exit());
