import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { RelayedSocket, type Say } from "./relayed-socket.ts";
import { CAME, CLOSED, ENDED, FINISHED, OPENED, SHUT, TAKEN, type FromPorter, type Post, type Word } from "./words.ts";

interface Told {
  onListening(): void;
  onFailed(error: Error): void;
  onConnection(socket: RelayedSocket): void;
  /** The last client has gone, after nobody else was let in. */
  onClosed(): void;
  /** The thread has ended without being asked to; it does not come back. */
  onBroken(error: Error): void;
}

/** The event loop's side of the thread that holds clients' connections. */
class Porter {
  readonly #worker: Worker;
  readonly #told: Told;
  readonly #sockets = new Map<number, RelayedSocket>();
  #words: Word[] = [];
  #address: AddressInfo | null = null;
  #stage: "begun" | "open" | "shut" | "gone" = "begun";

  constructor(post: Post, told: Told) {
    this.#told = told;
    this.#worker = new Worker(new URL("porter-worker.ts", import.meta.url), { workerData: post });
    this.#worker.on("message", this.#hear);
    this.#worker.on("error", (error) => this.#break(error));
    this.#worker.on("exit", () => this.#break(new Error("the thread that holds connections has ended")));
  }

  /** Where it listens, as long as it does. */
  get address(): AddressInfo | null {
    return this.#stage === "open" ? this.#address : null;
  }

  /** Whether its thread is there. */
  get isThere(): boolean {
    return this.#stage !== "gone";
  }

  /** Lets nobody else in. */
  shut(): void {
    if (this.#stage !== "shut") this.#say(SHUT, 0);
    this.#stage = "shut";
  }

  readonly #say: Say = (word, id, more) => {
    if (this.#words.length === 0) setImmediate(this.#sayAll);
    this.#words.push(word, id);
    if (more !== undefined) this.#words.push(more);
  };

  /** Whatever is said within one turn goes over together. */
  readonly #sayAll = (): void => {
    this.#worker.postMessage(this.#words);
    this.#words = [];
  };

  readonly #hear = (message: FromPorter): void => {
    switch (message.kind) {
      case "said":
        return this.#follow(message.words, message.bytes);
      case "listening":
        this.#address = message.address;
        if (this.#stage === "begun") this.#stage = "open";
        return this.#told.onListening();
      case "failed":
        this.#leave();
        return this.#told.onFailed(Object.assign(new Error(message.message), message.details));
      case "closed":
        this.#leave();
        return this.#told.onClosed();
    }
  };

  #follow(words: readonly Word[], bytes: Uint8Array | null): void {
    const all = bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.alloc(0);
    let from = 0;
    for (let at = 0; at < words.length;) {
      const word = words[at] as number;
      const id = words[at + 1] as number;
      const socket = this.#sockets.get(id);
      at += 2;
      switch (word) {
        case OPENED:
          this.#open(id, words[at++] as string);
          break;
        case CAME: {
          const to = from + (words[at++] as number);
          socket?.came(all.subarray(from, to));
          from = to;
          break;
        }
        case ENDED:
          socket?.ended();
          break;
        case TAKEN: {
          const count = words[at++] as number;
          socket?.taken(count);
          break;
        }
        case FINISHED:
          socket?.finished();
          break;
        case CLOSED:
          this.#sockets.delete(id);
          socket?.gone();
      }
    }
  }

  #open(id: number, address: string): void {
    const socket = new RelayedSocket(id, address, this.#say);
    this.#sockets.set(id, socket);
    this.#told.onConnection(socket);
  }

  #leave(): void {
    this.#stage = "gone";
    void this.#worker.terminate();
    // The last to go may not have been told of: a server hears that it is closed before its sockets do.
    for (const socket of this.#sockets.values()) socket.gone();
    this.#sockets.clear();
  }

  #break(error: Error): void {
    if (!this.isThere) return;
    const { onBroken, onFailed } = this.#told;
    const tell = this.#stage === "begun" ? onFailed : onBroken;
    this.#leave();
    tell(error);
  }
}

/**
 * Has a server listen in a thread of its own, which takes half of a send's time off the event loop: what clients say comes
 * over as bytes, and what they are told goes back as text, all of one turn together. The server does not notice: it is given
 * its connections as if it had listened itself.
 */
export function putPorterBefore(server: Server, onBroken: (error: Error) => void): Server {
  let porter: Porter | null = null;
  const close = server.close.bind(server);
  const listen = ({ host, port }: Post): Server => {
    porter = new Porter(
      { host, port },
      {
        onListening: () => server.emit("listening"),
        onFailed: (error) => server.emit("error", error),
        onConnection: (socket) => server.emit("connection", socket),
        // By its own account it has never listened, and says at once that it is closed.
        onClosed: () => close(),
        onBroken,
      },
    );
    return server;
  };
  Object.defineProperty(server, "listening", { get: () => (porter?.address ?? null) !== null });
  return Object.assign(server, {
    listen,
    address: () => porter?.address ?? null,
    close: (callback?: (error?: Error) => void): Server => {
      if (callback) server.once("close", () => callback());
      server.closeIdleConnections();
      if (porter?.isThere) porter.shut();
      else close();
      return server;
    },
  });
}
