import { createServer, type AddressInfo, type Socket } from "node:net";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import {
  CAME, CLOSED, CUT, END, ENDED, FINISHED, GO_ON, HEARD, HOLD, OPENED, SHUT, TAKEN, TOLD_FROM, UNHEARD_MAX, WRITE,
  type FromPorter, type Post, type Word,
} from "./words.ts"; // prettier-ignore

/** Holds the connections of clients in a thread of its own, and knows nothing of what is said on them. */

interface Line {
  readonly socket: Socket;
  /** Written, and not yet told as taken. */
  untold: number;
  /** Whether the event loop wants nothing of it for now. */
  held: boolean;
}

const port = parentPort as MessagePort;
const post = workerData as Post;
const lines = new Map<number, Line>();
/** Lines that are not read because too much is unheard. */
const resting = new Set<Line>();
let nextId = 1;
let words: Word[] = [];
let pieces: Buffer[] = [];
let length = 0;
let unheard = 0;

const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
  const id = nextId++;
  const line: Line = { socket, untold: 0, held: false };
  lines.set(id, line);
  say(OPENED, id, socket.remoteAddress ?? "");
  socket.on("data", (piece) => {
    pieces.push(piece);
    length += piece.length;
    unheard += piece.length;
    say(CAME, id, piece.length);
    if (unheard < UNHEARD_MAX) return;
    socket.pause();
    resting.add(line);
  });
  socket.on("end", () => say(ENDED, id));
  // A line that breaks closes next, and that is told.
  socket.on("error", () => {});
  socket.on("close", () => {
    lines.delete(id);
    resting.delete(line);
    say(CLOSED, id);
  });
});
server.on("error", ({ message, code, address, port: taken }: NodeJS.ErrnoException & Partial<AddressInfo>) =>
  tell({
    kind: "failed",
    message,
    details: { ...(code && { code }), ...(address && { address }), ...(taken && { port: taken }) },
  }),
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
      case HOLD:
        if (line) hold(line);
        break;
      case GO_ON:
        if (line) goOn(line);
        break;
      case HEARD:
        hear(id);
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

function hold(line: Line): void {
  line.held = true;
  line.socket.pause();
}

function goOn(line: Line): void {
  line.held = false;
  if (!resting.has(line)) line.socket.resume();
}

function hear(count: number): void {
  unheard -= count;
  if (unheard > UNHEARD_MAX / 2) return;
  for (const line of resting) if (!line.held) line.socket.resume();
  resting.clear();
}
