import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Worker } from "node:worker_threads";
import type { CertificatePair } from "../../listener/client-listener.ts";
import type { InstallListenerOptions } from "../../listener/install-listener.ts";
import { ProxiedSocket } from "./proxied-socket.ts";
import {
  CLOSE_SERVER,
  CLOSED,
  DATA,
  ENDED,
  FINISHED,
  handleEntries,
  OPENED,
  OPENED_HTTP2,
  WRITE_ACK,
  type Commands,
  type Enqueue,
  type Events,
  type Handlers,
  type ListenOptions,
  type NewCertificate,
  type Slot,
  type ThreadMessage,
  type ThreadOptions,
} from "./protocol.ts";

interface Listeners {
  onListening(): void;
  onListenFailed(error: Error): void;
  onConnection(socket: ProxiedSocket): void;
  onHttp2(socket: ProxiedSocket): void;
  /** The server has stopped listening and the last client has left. */
  onClosed(): void;
  /** The thread has crashed; it is not restarted. */
  onCrash(error: Error): void;
}

const NO_BYTES = Buffer.alloc(0);

/** The event loop's side of the connection thread. Next: src/http/fast-path/connection-thread/proxied-socket.ts */
class ConnectionThread {
  readonly #worker: Worker;
  readonly #listeners: Listeners;
  readonly #sockets = new Map<number, ProxiedSocket>();
  #commands: Slot[] = [];
  /** Bytes of the list that is being handled, and how many of them are consumed. */
  #received: Buffer = NO_BYTES;
  #consumed = 0;
  #address: AddressInfo | null = null;
  #state: "starting" | "listening" | "closing" | "terminated" = "starting";

  constructor(options: ThreadOptions, listeners: Listeners) {
    this.#listeners = listeners;
    this.#worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: options });
    this.#worker.on("message", this.#onMessage);
    this.#worker.on("error", (error) => this.#onExit(error));
    this.#worker.on("exit", () => this.#onExit(new Error("connection thread exited")));
  }

  /** Listen address; null unless it is listening. */
  get address(): AddressInfo | null {
    return this.#state === "listening" ? this.#address : null;
  }

  get isRunning(): boolean {
    return this.#state !== "terminated";
  }

  /** Stops listening; existing connections stay. */
  closeServer(): void {
    if (this.#state !== "closing") this.#enqueue(CLOSE_SERVER, 0, null);
    this.#state = "closing";
  }

  setCertificate(certificate: CertificatePair): void {
    this.#worker.postMessage({ certificate } satisfies NewCertificate);
  }

  readonly #enqueue: Enqueue<Commands> = (opcode, id, payload) => {
    if (this.#commands.length === 0) setImmediate(this.#flush);
    this.#commands.push(opcode, id, payload);
  };

  readonly #flush = (): void => {
    this.#worker.postMessage(this.#commands);
    this.#commands = [];
  };

  readonly #onMessage = (message: ThreadMessage): void => {
    switch (message.kind) {
      case "entries":
        return this.#handle(message.slots, message.bytes);
      case "listening":
        this.#address = message.address;
        if (this.#state === "starting") this.#state = "listening";
        return this.#listeners.onListening();
      case "listen-failed":
        this.#terminate();
        return this.#listeners.onListenFailed(Object.assign(new Error(message.message), message.details));
      case "closed":
        this.#terminate();
        return this.#listeners.onClosed();
    }
  };

  #handle(slots: readonly Slot[], bytes: Uint8Array | null): void {
    this.#received = bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : NO_BYTES;
    this.#consumed = 0;
    handleEntries(slots, this.#events);
    this.#received = NO_BYTES;
  }

  readonly #events: Handlers<Events> = {
    [OPENED]: (id, address) => this.#listeners.onConnection(this.#open(id, address)),
    [OPENED_HTTP2]: (id, address) => this.#listeners.onHttp2(this.#open(id, address)),
    [DATA]: (id, length) => {
      const from = this.#consumed;
      this.#consumed += length;
      this.#sockets.get(id)?.handleData(this.#received.subarray(from, this.#consumed));
    },
    [ENDED]: (id) => this.#sockets.get(id)?.handleEnd(),
    [WRITE_ACK]: (id, count) => this.#sockets.get(id)?.handleWriteAck(count),
    [FINISHED]: (id) => this.#sockets.get(id)?.handleFinished(),
    [CLOSED]: (id) => {
      const socket = this.#sockets.get(id);
      this.#sockets.delete(id);
      socket?.handleClosed();
    },
  };

  #open(id: number, address: string): ProxiedSocket {
    const socket = new ProxiedSocket(id, address, this.#enqueue);
    this.#sockets.set(id, socket);
    return socket;
  }

  #terminate(): void {
    this.#state = "terminated";
    void this.#worker.terminate();
    // Node closes a server before its last socket emits "close", so CLOSED of that one may be missing.
    for (const socket of this.#sockets.values()) socket.handleClosed();
    this.#sockets.clear();
  }

  #onExit(error: Error): void {
    if (!this.isRunning) return;
    const { onCrash, onListenFailed } = this.#listeners;
    const report = this.#state === "starting" ? onListenFailed : onCrash;
    this.#terminate();
    report(error);
  }
}

const PLAIN: InstallListenerOptions = { certificate: null, proxies: null, source: null, onHttp2: () => {} };

/**
 * Makes a server listen in the connection thread, which takes half of a send's time off the event loop. The server receives
 * its connections as if it listened itself.
 */
export function installConnectionThread(
  server: Server,
  onCrash: (error: Error) => void,
  { source, onHttp2, certificate, proxies }: InstallListenerOptions = PLAIN,
): Server {
  let thread: ConnectionThread | null = null;
  const close = server.close.bind(server);
  const listen = ({ host, port }: ListenOptions): Server => {
    thread = new ConnectionThread(
      { host, port, certificate: source?.current ?? certificate, proxies },
      {
        onListening: () => server.emit("listening"),
        onListenFailed: (error) => server.emit("error", error),
        onConnection: (socket) => server.emit("connection", socket),
        onHttp2: (socket) => onHttp2(socket as unknown as Socket, socket.remoteAddress),
        // The server itself has never listened, so it emits "close" at once.
        onClosed: () => close(),
        onCrash,
      },
    );
    return server;
  };
  source?.onChange((pair) => thread?.setCertificate(pair));
  Object.defineProperty(server, "listening", { get: () => (thread?.address ?? null) !== null });
  return Object.assign(server, {
    listen,
    address: () => thread?.address ?? null,
    close: (callback?: (error?: Error) => void): Server => {
      if (callback) server.once("close", () => callback());
      server.closeIdleConnections();
      if (thread?.isRunning) thread.closeServer();
      else close();
      return server;
    },
  });
}
