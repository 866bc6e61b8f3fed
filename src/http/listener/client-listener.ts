import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { ProxiedClients } from "./proxy-protocol.ts";

/** Certificate chain and private key, as PEM. */
export interface CertificatePair {
  cert: string;
  key: string;
}

/** Layers below HTTP on a connection: PROXY header and TLS. Cloned into the connection thread. */
export interface ListenerOptions {
  /** Null for plain TCP. */
  certificate: CertificatePair | null;
  /** Networks of proxies, which begin each connection with a PROXY header; null if there are none. */
  proxies: readonly string[] | null;
}

export type OnClient = (socket: Socket, address: string, isHttp2: boolean) => void;

export interface ClientListener {
  server: Server;
  /** New connections use it; existing ones keep theirs. */
  setCertificate(pair: CertificatePair): void;
  /** Stops listening, and closes connections that have not begun with HTTP. Runs the callback once the last one is closed. */
  close(onClosed: () => void): void;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Accepts connections, and hands them over once their PROXY header is read and their TLS handshake is done. */
export function createClientListener({ certificate, proxies }: ListenerOptions, onClient: OnClient): ClientListener {
  const secure = certificate ? new TlsClients(certificate, onClient) : null;
  const begin = secure
    ? secure.begin
    : (socket: Socket, address: string): void => {
        onClient(socket, address, false);
        // Reading a PROXY header pauses the socket.
        if (proxies) socket.resume();
      };
  const proxied = proxies ? new ProxiedClients(proxies, begin) : null;
  const accept = proxied ? proxied.begin : (socket: Socket) => begin(socket, socket.remoteAddress ?? "");
  // With TLS a half-closed connection is closed, as by Node's own server.
  const server = createServer({ allowHalfOpen: secure === null, noDelay: true }, accept);
  return {
    server,
    setCertificate: (pair) => secure?.setCertificate(pair),
    close: (onClosed) =>
      acceptArrived(server, () => {
        server.close(onClosed);
        proxied?.destroy();
        secure?.destroy();
      }),
  };
}

/** Node's default backlog, and so the most connections that the kernel holds. */
const BACKLOG = 511;

/**
 * Accepts the connections that have arrived, then runs the callback: the kernel resets those that a closing listener leaves,
 * although their clients have sent a request. A turn of the event loop accepts one connection.
 */
function acceptArrived(server: Server, next: () => void): void {
  let quietTurns = 0;
  server.on("connection", () => {
    quietTurns = 0;
  });
  const turn = (turnsLeft: number): void => {
    // The first turn may have polled before the stop.
    if (quietTurns === 2 || turnsLeft === 0) return next();
    quietTurns += 1;
    setImmediate(turn, turnsLeft - 1);
  };
  turn(BACKLOG);
}

/** Performs TLS handshakes. ALPN decides between HTTP/2 and HTTP/1.1. */
class TlsClients {
  readonly #server: TlsServer;
  /** Connections in their handshake with the address of the client, by the address and port of the peer. */
  readonly #pending = new Map<string, { socket: Socket; address: string }>();

  constructor(certificate: CertificatePair, onClient: OnClient) {
    this.#server = createTlsServer(
      {
        ...certificate,
        minVersion: "TLSv1.2",
        ALPNProtocols: ["h2", "http/1.1"],
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      },
      (socket) => {
        const peer = peerOf(socket);
        const address = this.#pending.get(peer)?.address;
        this.#pending.delete(peer);
        // The peer is unknown if it has left already.
        if (address === undefined) socket.destroy();
        else onClient(socket, address, socket.alpnProtocol === "h2");
      },
    );
    // The connection is closed already. Scanners cause such errors all day, so they are not logged.
    this.#server.on("tlsClientError", () => {});
  }

  readonly begin = (socket: Socket, address: string): void => {
    const peer = peerOf(socket);
    this.#pending.set(peer, { socket, address });
    socket.once("close", () => {
      if (this.#pending.get(peer)?.socket === socket) this.#pending.delete(peer);
    });
    this.#server.emit("connection", socket);
  };

  setCertificate(pair: CertificatePair): void {
    this.#server.setSecureContext({ ...pair, minVersion: "TLSv1.2" });
  }

  destroy(): void {
    for (const { socket } of this.#pending.values()) socket.destroy();
  }
}

/** Unique among the open connections of one port. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
