import { createServer, type AddressInfo, type Socket } from "node:net";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import {
  AHEAD_MAX, CAME, CLOSED, CUT, END, ENDED, FINISHED, OPENED, READ, SHUT, TAKEN, TOLD_FROM, WRITE,
  type FromPorter, type Post, type Word,
} from "./words.ts"; // prettier-ignore

/** Holds the connections of clients in a thread of its own, and knows nothing of what is said on them. */

interface Line {
  readonly socket: Socket;
  /** Written, and not yet told as taken. */
  untold: number;
  /** Told to the event loop, and not yet read there. */
  unread: number;
}

/** Bytes that go over without waiting for the end of the turn: what is kept of a list keeps its bytes, of all clients. */
const LIST_BYTES = 65_536;

const port = parentPort as MessagePort;
const post = workerData as Post;
const lines = new Map<number, Line>();
let nextId = 1;
let words: Word[] = [];
let pieces: Buffer[] = [];
let length = 0;

const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
  const id = nextId++;
  const line: Line = { socket, untold: 0, unread: 0 };
  lines.set(id, line);
  say(OPENED, id, socket.remoteAddress ?? "");
  socket.on("data", (piece) => {
    pieces.push(piece);
    length += piece.length;
    line.unread += piece.length;
    say(CAME, id, piece.length);
    if (line.unread >= AHEAD_MAX) socket.pause();
    if (length >= LIST_BYTES) sayAll();
  });
  socket.on("end", () => say(ENDED, id));
  // A line that breaks closes next, and that is told.
  socket.on("error", () => {});
  socket.on("close", () => {
    lines.delete(id);
    say(CLOSED, id);
  });
});
server.on("error", ({ message, code, address, port: taken }: NodeJS.ErrnoException & Partial<AddressInfo>) =>
  tell({ kind: "failed", message, details: { code, address, port: taken } }),
);
server.listen(post, () => tell({ kind: "listening", address: server.address() as AddressInfo }));

port.on("message", (told: readonly Word[]) => {
  for (let at = 0; at < told.length;) {
    const word = told[at] as number;
    const id = told[at + 1] as number;
    const line = lines.get(id);
    at += 2;
    switch (word) {
      case WRITE:
        if (line) write(id, line, told[at] as string | Uint8Array);
        at += 1;
        break;
      case END:
        line?.socket.end(() => say(FINISHED, id));
        break;
      case CUT:
        line?.socket.destroy();
        break;
      case READ:
        if (line) goOn(line, told[at] as number);
        at += 1;
        break;
      case SHUT:
        server.close(() => setImmediate(tell, { kind: "closed" }));
    }
  }
});

function say(word: number, id: number, more?: Word): void {
  if (words.length === 0) setImmediate(sayAll);
  words.push(word, id);
  if (more !== undefined) words.push(more);
}

/** Whatever has come within one turn goes over together: one list, and the bytes of all clients as one piece that is not copied again. */
function sayAll(): void {
  if (words.length === 0) return;
  const bytes = length === 0 ? null : Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const piece of pieces) at += piece.copy(bytes as Buffer, at);
  tell({ kind: "said", words, bytes }, bytes ? [bytes.buffer] : []);
  words = [];
  pieces = [];
  length = 0;
}

function tell(message: FromPorter, moved: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, moved);
}

function write(id: number, line: Line, chunk: string | Uint8Array): void {
  line.untold += chunk.length;
  if (line.untold < TOLD_FROM) return void line.socket.write(chunk);
  const taken = line.untold;
  line.untold = 0;
  line.socket.write(chunk, () => say(TAKEN, id, taken));
}

function goOn(line: Line, count: number): void {
  line.unread -= count;
  if (line.unread < AHEAD_MAX) line.socket.resume();
}
