import type { AddressInfo, Socket } from "node:net";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { createClientListener } from "../../listener/client-listener.ts";
import {
  ACK_EVERY_BYTES, CLOSE_SERVER, CLOSED, DATA, DESTROY, END, ENDED, FINISHED, handleEntries, OPENED, OPENED_HTTP2, READ_ACK,
  UNACKED_BYTES_MAX, WRITE, WRITE_ACK, type Commands, type Events, type Handlers, type NewCertificate, type Slot, type ThreadMessage,
  type ThreadOptions,
} from "./protocol.ts"; // prettier-ignore

/**
 * Connection thread: owns the client sockets and moves bytes, decrypted if they use TLS. It does not parse HTTP.
 *
 * Next: src/http/fast-path/connection-thread/connection-thread.ts
 */

interface Client {
  readonly socket: Socket;
  /** Written to the socket since the last write ack was scheduled. */
  unackedWrites: number;
  /** Sent to the event loop, and not yet acked by it. */
  unackedReads: number;
}

/** Received bytes that are posted before the turn ends. A socket that keeps a chunk keeps the whole list's memory. */
const FLUSH_BYTES = 65_536;

const port = parentPort as MessagePort;
const clients = new Map<number, Client>();
let nextId = 1;
let slots: Slot[] = [];
let chunks: Buffer[] = [];
let chunkBytes = 0;

const options = workerData as ThreadOptions;

const { server, setCertificate, close } = createClientListener(options, (socket, remoteAddress, isHttp2) => {
  const id = nextId++;
  const client: Client = { socket, unackedWrites: 0, unackedReads: 0 };
  clients.set(id, client);
  enqueue(isHttp2 ? OPENED_HTTP2 : OPENED, id, remoteAddress);
  socket.on("data", (chunk) => {
    chunks.push(chunk);
    chunkBytes += chunk.length;
    client.unackedReads += chunk.length;
    enqueue(DATA, id, chunk.length);
    if (client.unackedReads >= UNACKED_BYTES_MAX) socket.pause();
    if (chunkBytes >= FLUSH_BYTES) flush();
  });
  // HTTP/2 has no half-open connections, and Node fails when a response is written while its side shuts down: "close" suffices.
  if (!isHttp2) socket.on("end", () => enqueue(ENDED, id, null));
  // "close" follows and is reported.
  socket.on("error", () => {});
  socket.on("close", () => {
    clients.delete(id);
    enqueue(CLOSED, id, null);
  });
});
server.on("error", ({ message, code, address, port: number }: NodeJS.ErrnoException & Partial<AddressInfo>) =>
  post({ kind: "listen-failed", message, details: { code, address, port: number } }),
);
server.listen({ host: options.host, port: options.port }, () =>
  post({ kind: "listening", address: server.address() as AddressInfo }),
);

const commands: Handlers<Commands> = {
  [WRITE]: (id, chunk) => {
    const client = clients.get(id);
    if (client) write(id, client, chunk);
  },
  [END]: (id) => clients.get(id)?.socket.end(() => enqueue(FINISHED, id, null)),
  [DESTROY]: (id) => clients.get(id)?.socket.destroy(),
  [READ_ACK]: (id, bytes) => {
    const client = clients.get(id);
    if (!client) return;
    client.unackedReads -= bytes;
    if (client.unackedReads < UNACKED_BYTES_MAX) client.socket.resume();
  },
  [CLOSE_SERVER]: () => close(() => setImmediate(post, { kind: "closed" })),
};
port.on("message", (received: readonly Slot[] | NewCertificate) => {
  if ("certificate" in received) setCertificate(received.certificate);
  else handleEntries(received, commands);
});

function write(id: number, client: Client, chunk: string | Uint8Array): void {
  client.unackedWrites += chunk.length;
  if (client.unackedWrites < ACK_EVERY_BYTES) return void client.socket.write(chunk);
  const bytes = client.unackedWrites;
  client.unackedWrites = 0;
  client.socket.write(chunk, () => enqueue(WRITE_ACK, id, bytes));
}

function enqueue<Opcode extends keyof Events>(opcode: Opcode, id: number, payload: Events[Opcode]): void {
  if (slots.length === 0) setImmediate(flush);
  slots.push(opcode, id, payload);
}

/** Posts the entries of this turn, with the bytes of all clients in one buffer that is transferred and not copied again. */
function flush(): void {
  if (slots.length === 0) return;
  const bytes = chunkBytes === 0 ? null : Buffer.allocUnsafeSlow(chunkBytes);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(bytes as Buffer, at);
  post({ kind: "entries", slots, bytes }, bytes ? [bytes.buffer] : []);
  slots = [];
  chunks = [];
  chunkBytes = 0;
}

function post(message: ThreadMessage, transferred: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}
