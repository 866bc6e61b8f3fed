import type { BindCommand } from "../../smpp/pdu.ts";
import type { Session } from "../../smpp/session.ts";
import type { StopTimeouts } from "../carrier.ts";
import type { SmppConnection, SmppConnectionState } from "./connection.ts";

interface SmppConnectionsDeps {
  /** Bind types of one connection: a transceiver, or a transmitter and a receiver. */
  binds: readonly BindCommand[];
  open(as: BindCommand): SmppConnection;
}

interface OpenBind {
  as: BindCommand;
  connection: SmppConnection;
}

/** The binds of a carrier on this node. Their number is the node's share, which changes when nodes join or leave. */
export class SmppConnections {
  readonly #deps: SmppConnectionsDeps;
  #open: OpenBind[] = [];
  readonly #ending = new Set<Promise<void>>();
  /** Start of the search, for round-robin among equally loaded binds. */
  #next = 0;

  constructor(deps: SmppConnectionsDeps) {
    this.#deps = deps;
  }

  /** Opens or closes binds until there are `count` of each type. */
  resize(count: number): void {
    const { binds, open } = this.#deps;
    const wanted = count * binds.length;
    while (this.#open.length > wanted) {
      const ended = this.#open.pop();
      if (ended) this.#end(ended.connection);
    }
    while (this.#open.length < wanted) {
      const as = binds[this.#open.length % binds.length] ?? "bind_transceiver";
      const connection = open(as);
      this.#open.push({ as, connection });
      connection.start();
    }
  }

  /** Closes all binds and waits for those that are closing. */
  async stop(timeouts?: StopTimeouts): Promise<void> {
    for (const { connection } of this.#open.splice(0)) this.#end(connection, timeouts);
    await Promise.all(this.#ending);
  }

  /** The sending bind with the most free window slots; null if none. */
  pick(): Session | null {
    let best: Session | null = null;
    const { length } = this.#open;
    this.#next += 1;
    for (let place = 0; place < length; place += 1) {
      const { as, connection } = this.#open[(place + this.#next) % length] as OpenBind;
      const session = as === "bind_receiver" ? null : connection.session;
      if (session && (best === null || freeSlots(session) > freeSlots(best))) best = session;
    }
    return best;
  }

  /** Sum of the windows of all sending binds. */
  get window(): number {
    let sum = 0;
    for (const { as, connection } of this.#open) if (as !== "bind_receiver") sum += connection.session?.window ?? 0;
    return sum;
  }

  /** True until the first bind attempt has ended, also if none has started. */
  get isUntried(): boolean {
    return this.#open.every(({ connection }) => connection.isUntried);
  }

  states(): readonly { as: BindCommand; state: SmppConnectionState; session: Session | null }[] {
    return this.#open.map(({ as, connection }) => ({ as, state: connection.state, session: connection.session }));
  }

  #end(connection: SmppConnection, timeouts?: StopTimeouts): void {
    const ending = connection.stop(timeouts).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

const freeSlots = ({ free, queued }: Session): number => free - queued;
