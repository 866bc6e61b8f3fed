import type { BindCommand } from "../../smpp/pdu.ts";
import type { Session } from "../../smpp/session.ts";
import type { Patience } from "../carrier.ts";
import type { Line, LineState } from "./line.ts";

interface LinesNeeds {
  /** What each place of the pool is bound as: a transceiver, or one of a pair. */
  binds: readonly BindCommand[];
  open(as: BindCommand): Line;
}

interface Open {
  as: BindCommand;
  line: Line;
}

/** The binds of a carrier on this node: as many as are its share, which changes when nodes come and go. */
export class Lines {
  readonly #needs: LinesNeeds;
  #open: Open[] = [];
  readonly #ending = new Set<Promise<void>>();
  /** Where the search for a bind begins, so that equals take turns. */
  #turn = 0;

  constructor(needs: LinesNeeds) {
    this.#needs = needs;
  }

  /** Opens or ends binds until there are so many of each kind. */
  resize(count: number): void {
    const { binds, open } = this.#needs;
    const wanted = count * binds.length;
    while (this.#open.length > wanted) {
      const ended = this.#open.pop();
      if (ended) this.#end(ended.line);
    }
    while (this.#open.length < wanted) {
      const as = binds[this.#open.length % binds.length] ?? "bind_transceiver";
      const line = open(as);
      this.#open.push({ as, line });
      line.start();
    }
  }

  /** Ends them all and waits for those that are ending. */
  async stop(patience?: Patience): Promise<void> {
    for (const { line } of this.#open.splice(0)) this.#end(line, patience);
    await Promise.all(this.#ending);
  }

  /** The bind with most room among those that can send; null when there is none. */
  pick(): Session | null {
    let best: Session | null = null;
    const { length } = this.#open;
    this.#turn += 1;
    for (let place = 0; place < length; place += 1) {
      const { as, line } = this.#open[(place + this.#turn) % length] as Open;
      const session = as === "bind_receiver" ? null : line.session;
      if (session && (best === null || roomIn(session) > roomIn(best))) best = session;
    }
    return best;
  }

  /** Submits that can wait for their answers, on all binds that can send. */
  get window(): number {
    let sum = 0;
    for (const { as, line } of this.#open) if (as !== "bind_receiver") sum += line.session?.window ?? 0;
    return sum;
  }

  states(): readonly { as: BindCommand; state: LineState; session: Session | null }[] {
    return this.#open.map(({ as, line }) => ({ as, state: line.state, session: line.session }));
  }

  #end(line: Line, patience?: Patience): void {
    const ending = line.stop(patience).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

const roomIn = ({ free, queued }: Session): number => free - queued;
