import type { Session } from "../../smpp/session.ts";
import type { BindKind, SmppBind } from "../../store/smpp-binds.ts";
import type { SmppClient } from "./client.ts";
import type { PduTrace } from "./pdu-trace.ts";

/** Counters of a bind, as the dashboard shows them. */
export interface BindCounters {
  submits: number;
  accepted: number;
  refused: number;
  throttled: number;
  /** Receipts and texts that the client acknowledged. */
  delivered: number;
  /** Those that it refused, or did not acknowledge in time. */
  failed: number;
  /** Submits without a response. */
  pendingSubmits: number;
  /** Receipts and texts without an acknowledgement. */
  pendingDeliveries: number;
  lastPduAt: number;
}

type LiveBindFields = Pick<
  LiveBind,
  "id" | "kind" | "session" | "trace" | "client" | "secure" | "hasCertificate" | "boundAt"
>;

/** A bind of this node. */
export class LiveBind {
  readonly id: string;
  readonly kind: BindKind;
  readonly session: Session;
  readonly trace: PduTrace;
  readonly secure: boolean;
  readonly hasCertificate: boolean;
  readonly boundAt: number;
  client: SmppClient;
  readonly counters: Omit<BindCounters, "pendingDeliveries">;

  constructor(given: LiveBindFields) {
    this.id = given.id;
    this.kind = given.kind;
    this.session = given.session;
    this.trace = given.trace;
    this.client = given.client;
    this.secure = given.secure;
    this.hasCertificate = given.hasCertificate;
    this.boundAt = given.boundAt;
    const none = { submits: 0, accepted: 0, refused: 0, throttled: 0, delivered: 0, failed: 0, pendingSubmits: 0 };
    this.counters = { ...none, lastPduAt: given.boundAt };
  }

  get receives(): boolean {
    return this.kind !== "transmitter" && this.session.isOpen;
  }

  report(traceAt: number | null): Pick<SmppBind, "accountId" | "id" | "counters" | "trace"> {
    const counters: BindCounters = { ...this.counters, pendingDeliveries: this.session.pending + this.session.queued };
    return {
      accountId: this.client.account.id,
      id: this.id,
      counters: JSON.stringify(counters),
      trace: traceAt === null ? null : JSON.stringify(this.trace.last(traceAt)),
    };
  }
}

/** The binds of this node. */
export class LiveBinds {
  readonly #byId = new Map<string, LiveBind>();
  readonly #byCredential = new Map<string, Set<LiveBind>>();

  get all(): Iterable<LiveBind> {
    return this.#byId.values();
  }

  get count(): number {
    return this.#byId.size;
  }

  find(id: string): LiveBind | null {
    return this.#byId.get(id) ?? null;
  }

  add(bind: LiveBind): void {
    const { credentialId } = bind.client;
    this.#byId.set(bind.id, bind);
    this.#byCredential.set(credentialId, (this.#byCredential.get(credentialId) ?? new Set()).add(bind));
  }

  remove(bind: LiveBind): void {
    const { credentialId } = bind.client;
    this.#byId.delete(bind.id);
    const binds = this.#byCredential.get(credentialId);
    binds?.delete(bind);
    if (binds?.size === 0) this.#byCredential.delete(credentialId);
  }

  /** The bind of a system id that has the most room for a receipt or text; null if none can receive. */
  receiverOf(credentialId: string): LiveBind | null {
    let best: LiveBind | null = null;
    for (const bind of this.#byCredential.get(credentialId) ?? [])
      if (bind.receives && (best === null || bind.session.free > best.session.free)) best = bind;
    return best;
  }

  /** System ids with a bind that can receive. */
  receivers(): SmppClient[] {
    return [...this.#byCredential.keys()].flatMap((id) => this.receiverOf(id)?.client ?? []);
  }
}
