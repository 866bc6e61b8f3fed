import type { Clock } from "../../lib/clock.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Scope } from "../../model/api-key.ts";
import type { SmppFeature } from "../../model/smpp-access.ts";
import type { Request, Response, SubmitMultiResp } from "../../smpp/pdu.ts";
import { responseTo } from "../../smpp/respond.ts";
import type { Answer, Incoming } from "../../smpp/session.ts";
import { STATUS } from "../../smpp/status.ts";
import type { LiveBind } from "./live-binds.ts";
import { cancel, query, type QueryDeps } from "./query.ts";
import { submitOfData } from "./read-submit.ts";
import { submit, submitMulti, type SubmitDeps } from "./submit.ts";

export interface RequestDeps extends SubmitDeps, QueryDeps {
  store: SubmitDeps["store"] & QueryDeps["store"];
  clock: Clock;
  /** Nodes that share the rate of a system id. */
  nodeCount(): number;
}

/**
 * Messages of a system id that wait for their commit on this node, over all its binds. More are throttled, so that the submits of
 * others wait for few commits.
 */
const PENDING_MAX = 1000;

type Submit = Extract<Request, { command: "submit_sm" | "submit_multi" | "data_sm" }>;

/** Answers the requests of clients. Submits beyond the window or the rate of their system id are throttled. */
export class RequestHandler {
  readonly #deps: RequestDeps;
  /** By credential. */
  readonly #buckets = new Map<string, TokenBucket>();
  /** Messages without a response, by credential. */
  readonly #pending = new Map<string, number>();

  constructor(deps: RequestDeps) {
    this.#deps = deps;
  }

  async answer(bind: LiveBind, pdu: Incoming): Promise<Answer> {
    const { clock } = this.#deps;
    const { client, counters } = bind;
    counters.lastPduAt = clock.now();
    switch (pdu.command) {
      case "submit_sm":
      case "submit_multi":
      case "data_sm":
        return this.#submit(bind, pdu);
      case "query_sm":
        if (!may(bind, "read", "query")) return responseTo(pdu, { status: STATUS.ESME_RPROHIBITED });
        return responseTo(pdu, await query(this.#deps, client, pdu));
      case "cancel_sm":
        if (!may(bind, "sms", "cancel")) return responseTo(pdu, { status: STATUS.ESME_RPROHIBITED });
        return responseTo(pdu, { status: await cancel(this.#deps, client, pdu) });
      case "outbind":
      case "alert_notification":
        return null;
      case "replace_sm":
      case "deliver_sm":
      case "bind_receiver":
      case "bind_transmitter":
      case "bind_transceiver":
      default:
        return responseTo(pdu, { status: STATUS.ESME_RINVCMDID });
    }
  }

  async #submit(bind: LiveBind, pdu: Submit): Promise<Response> {
    const { counters, client } = bind;
    counters.submits += 1;
    // After our unbind the response might not arrive, and the client would submit the message again.
    if (!bind.session.isOpen) {
      counters.refused += 1;
      return responseTo(pdu, { status: STATUS.ESME_RMSGQFUL });
    }
    const messages = pdu.command === "submit_multi" ? Math.max(1, pdu.destinations.length) : 1;
    const { credentialId, access } = client;
    const pending = this.#pending.get(credentialId) ?? 0;
    if (counters.pendingSubmits >= access.window || pending >= PENDING_MAX || !this.#take(bind, messages)) {
      counters.throttled += 1;
      return responseTo(pdu, { status: STATUS.ESME_RTHROTTLED });
    }
    counters.pendingSubmits += 1;
    this.#pending.set(credentialId, pending + messages);
    try {
      const response = await this.#accept(bind, pdu);
      counters[response.status === STATUS.ESME_ROK ? "accepted" : "refused"] += 1;
      return response;
    } finally {
      counters.pendingSubmits -= 1;
      const left = (this.#pending.get(credentialId) ?? 0) - messages;
      if (left > 0) this.#pending.set(credentialId, left);
      else this.#pending.delete(credentialId);
    }
  }

  async #accept(bind: LiveBind, pdu: Submit): Promise<Extract<Response, { status: number }>> {
    const { client } = bind;
    // Suspended accounts keep their binds, so that receipts still arrive.
    if (client.account.suspended || !may(bind, "sms")) return responseTo(pdu, { status: STATUS.ESME_RPROHIBITED });
    if (pdu.command === "submit_sm") return responseTo(pdu, await submit(this.#deps, client, pdu, pdu.destination));
    if (pdu.command === "data_sm")
      return responseTo(pdu, await submit(this.#deps, client, submitOfData(pdu), pdu.destination));
    if (!may(bind, "sms", "multi")) return responseTo(pdu, { status: STATUS.ESME_RPROHIBITED });
    const addresses = pdu.destinations.flatMap((each) => (each.kind === "address" ? [each.address] : []));
    if (addresses.length < pdu.destinations.length) return responseTo(pdu, { status: STATUS.ESME_RINVDLNAME });
    const result: Pick<SubmitMultiResp, "status" | "messageId" | "failures"> = await submitMulti(
      this.#deps,
      client,
      pdu,
      addresses,
    );
    return responseTo(pdu, result);
  }

  /** Takes tokens of the system id's rate, of which this node has its share. */
  #take({ client: { credentialId, access } }: LiveBind, messages: number): boolean {
    const { messagesPerSecond } = access;
    if (messagesPerSecond === null) return true;
    const now = this.#deps.clock.now();
    const rate = messagesPerSecond / Math.max(1, this.#deps.nodeCount());
    let bucket = this.#buckets.get(credentialId);
    if (!bucket) {
      bucket = new TokenBucket(rate, now);
      this.#buckets.set(credentialId, bucket);
    }
    if (bucket.ratePerSecond !== rate) bucket.changeRate(rate, now);
    return bucket.take(now, messages).taken;
  }
}

/** True if the credential has the scope that the same operation needs by HTTP, and the feature where it is one. */
const may = ({ client: { scopes, access } }: LiveBind, scope: Scope, feature?: SmppFeature): boolean =>
  scopes.includes(scope) && (feature === undefined || access.features.includes(feature));
