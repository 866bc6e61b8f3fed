import type { Random } from "../torture/random.ts";
import type { Answer, Attempt, SimulatedNode } from "./node.ts";
import type { World } from "./world.ts";

export interface ClientsDeps {
  world: World;
  /** Nodes that a load balancer would choose from. */
  nodes(): SimulatedNode[];
  apiKey: string;
}

export interface ClientRequest {
  body?: unknown;
  idempotencyKey?: string;
  key?: string;
  headers?: Readonly<Record<string, string>>;
  /** Learns of each attempt before it leaves. */
  onAttempt?(attempt: Partial<Attempt>): void;
}

export interface Answered {
  answer: Answer;
  node: SimulatedNode;
  askedAt: number;
}

/** Phones that get messages and write STOP. */
export const NUMBERS = Array.from({ length: 30 }, (_, index) => `12025550${100 + index}`);

const RETRIES = 4;
/** Once the world has calmed down. */
const CALM_RETRIES = 40;

/** The same request may succeed later. */
const isTemporary = ({ status, body }: Answer): boolean =>
  status === 503 || status === 429 || (status === 409 && JSON.stringify(body).includes("IDEMPOTENCY_IN_PROGRESS"));

export const isRefusal = ({ status }: Pick<Answer, "status">): boolean => status >= 400 && status < 500;

/** The client programmes of people: they ask any node, repeat requests without an answer, and count what they see. */
export class Clients {
  readonly world: World;
  readonly counts = new Map<string, number>();
  /** Violations that only the person who asked can see. */
  readonly complaints: string[] = [];
  /** People who are busy. */
  waiting = 0;
  /** The world has calmed down: a request is repeated until it is answered. */
  isCalm = false;
  readonly apiKey: string;
  readonly #deps: ClientsDeps;

  constructor(deps: ClientsDeps) {
    this.#deps = deps;
    this.world = deps.world;
    this.apiKey = deps.apiKey;
  }

  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  complain(what: string): void {
    this.complaints.push(what);
  }

  /** Starts the work of a person. */
  begin(kind: string, run: () => Promise<unknown>): void {
    this.waiting += 1;
    void run()
      .catch((error: unknown) =>
        this.complaints.push(`${kind}: ${error instanceof Error ? error.stack : String(error)}`),
      )
      .finally(() => {
        this.waiting -= 1;
      });
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.world.plan(ms, null, resolve));
  }

  nodes(): SimulatedNode[] {
    return this.#deps.nodes();
  }

  node(random: Random): SimulatedNode | null {
    const nodes = this.#deps.nodes();
    return nodes.length === 0 ? null : random.pick(nodes);
  }

  /** Repeats a request at any node, with the same idempotency key, until an answer says what became of it. */
  async request(
    random: Random,
    method: "GET" | "POST" | "DELETE" | "PATCH" | "PUT",
    url: string,
    { onAttempt, ...options }: ClientRequest = {},
  ): Promise<Answered | null> {
    const { world, apiKey } = this;
    for (let tried = 0; tried < (this.isCalm ? CALM_RETRIES : RETRIES); tried += 1) {
      const node = this.node(random);
      if (node) {
        const attempt: Partial<Attempt> = {};
        onAttempt?.(attempt);
        const askedAt = world.now;
        const key = options.headers ? {} : { key: apiKey };
        const answer = await node.request(method, url, { ...key, ...options, random, attempt });
        if (answer) this.count(`answer ${answer.status}`);
        if (answer && !isTemporary(answer)) return { answer, node, askedAt };
      }
      await this.pause(random.between(100, 5000));
    }
    return null;
  }
}
