import { isIP, SocketAddress, type BlockList, type Socket } from "node:net";
import { listOfNetworks, unmapped } from "../../lib/network.ts";

/** A proxy sends its header in one packet at the start; a slow one would hold the connection open. */
const HEADER_TIMEOUT_MS = 10_000;
/** Version 1 has at most 107 bytes. */
const V1_BYTES_MAX = 107;
const V2_SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const V2_HEAD_BYTES = 16;
/** Addresses and the options that proxies add, such as the TLS name of the client. */
const V2_REST_BYTES_MAX = 2048;
const V1_START = Buffer.from("PROXY ", "latin1");
const LINE_END = Buffer.from("\r\n", "latin1");

/** `address` is null for a health check of the proxy itself, which has no client. */
export type ProxyHeader =
  | { kind: "header"; address: string | null; bytes: number }
  | { kind: "incomplete" }
  | { kind: "invalid" };

const INCOMPLETE = { kind: "incomplete" } as const;
const INVALID = { kind: "invalid" } as const;

/** Parses the PROXY header, version 1 or 2, at the start of a connection's bytes. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, V2_SIGNATURE)) return parseV2(bytes);
  return startsLike(bytes, V1_START) ? parseV1(bytes) : INVALID;
}

const startsLike = (bytes: Buffer, start: Buffer): boolean => {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
};

function parseV1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, V1_BYTES_MAX).indexOf(LINE_END);
  if (end < 0) return bytes.length < V1_BYTES_MAX ? INCOMPLETE : INVALID;
  const total = end + LINE_END.length;
  const [, family, source = "", destination = "", ...ports] = bytes.toString("latin1", 0, end).split(" ");
  if (family === "UNKNOWN") return { kind: "header", address: null, bytes: total };
  const version = family === "TCP4" ? 4 : family === "TCP6" ? 6 : 0;
  const isValid =
    version !== 0 &&
    isIP(source) === version &&
    isIP(destination) === version &&
    ports.length === 2 &&
    ports.every((port) => /^\d{1,5}$/.test(port) && Number(port) <= 65_535);
  return isValid ? { kind: "header", address: canonical(source), bytes: total } : INVALID;
}

const V2_LOCAL = 0x20;
const V2_PROXY = 0x21;
const V2_TCP4 = 0x11;
const V2_TCP6 = 0x21;

function parseV2(bytes: Buffer): ProxyHeader {
  if (bytes.length < V2_HEAD_BYTES) return INCOMPLETE;
  const command = bytes.readUInt8(12);
  const family = bytes.readUInt8(13);
  const rest = bytes.readUInt16BE(14);
  if ((command !== V2_LOCAL && command !== V2_PROXY) || rest > V2_REST_BYTES_MAX) return INVALID;
  const total = V2_HEAD_BYTES + rest;
  if (bytes.length < total) return INCOMPLETE;
  if (command === V2_LOCAL) return { kind: "header", address: null, bytes: total };
  const address = addressIn(bytes.subarray(V2_HEAD_BYTES, total), family);
  return address === null ? INVALID : { kind: "header", address, bytes: total };
}

function addressIn(body: Buffer, family: number): string | null {
  if (family === V2_TCP4) return body.length < 12 ? null : body.subarray(0, 4).join(".");
  if (family !== V2_TCP6 || body.length < 36) return null;
  const groups = Array.from({ length: 8 }, (_, at) => body.readUInt16BE(at * 2).toString(16));
  return canonical(groups.join(":"));
}

/** One form of each address, as everywhere else. */
const canonical = (address: string): string =>
  isIP(address) === 4 ? address : unmapped(new SocketAddress({ address, family: "ipv6" }).address);

/**
 * Reads the PROXY header of each connection from a proxy, and passes the connection on with the client's address. Anyone else
 * could claim any address, so a connection from elsewhere is taken as it is, and a header in it is not HTTP. A proxy's
 * connection without a valid header is closed. After a header, the socket is passed on paused.
 */
export class ProxiedClients {
  readonly #trusted: BlockList;
  readonly #next: (socket: Socket, address: string) => void;
  /** Connections whose header is awaited. */
  readonly #pending = new Set<Socket>();

  constructor(proxies: readonly string[], next: (socket: Socket, address: string) => void) {
    this.#trusted = listOfNetworks(proxies);
    this.#next = next;
  }

  readonly begin = (socket: Socket): void => {
    const peer = unmapped(socket.remoteAddress ?? "");
    const version = isIP(peer);
    // The peer has left already.
    if (version === 0) return void socket.destroy();
    if (!this.#trusted.check(peer, version === 4 ? "ipv4" : "ipv6")) return this.#next(socket, peer);
    this.#pending.add(socket);
    socket.once("close", () => this.#pending.delete(socket));
    readHeader(socket, (address) => {
      this.#pending.delete(socket);
      this.#next(socket, address ?? peer);
    });
  };

  destroy(): void {
    for (const socket of this.#pending) socket.destroy();
  }
}

function readHeader(socket: Socket, onHeader: (address: string | null) => void): void {
  let received: Buffer = Buffer.alloc(0);
  const refuse = (): void => void socket.destroy();
  const timer = setTimeout(refuse, HEADER_TIMEOUT_MS).unref();
  const onData = (chunk: Buffer): void => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const header = parseProxyHeader(received);
    if (header.kind === "incomplete") return;
    stop();
    if (header.kind === "invalid") return refuse();
    socket.pause();
    if (header.bytes < received.length) socket.unshift(received.subarray(header.bytes));
    onHeader(header.address);
  };
  const stop = (): void => {
    clearTimeout(timer);
    socket.off("data", onData).off("end", refuse).off("close", stop);
  };
  // "close" follows.
  socket.on("error", () => {});
  socket.on("data", onData).on("end", refuse).on("close", stop);
}
