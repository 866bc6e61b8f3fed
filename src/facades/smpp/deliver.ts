import type { Clock } from "../../lib/clock.ts";
import type { Callback, StateEvent } from "../../model/callback.ts";
import { parseMessageId } from "../../model/message.ts";
import type { SmppAccess } from "../../model/smpp-access.ts";
import type { Address, DeliverSm } from "../../smpp/pdu.ts";
import { describeStatus, STATUS } from "../../smpp/status.ts";
import { References } from "../../smpp-text/parts.ts";
import type { FacadeDelivery } from "../../webhooks/facade-delivery.ts";
import type { ReceiptWish } from "./accept-text.ts";
import { inboundPdus } from "./inbound.ts";
import type { LiveBind, LiveBinds } from "./live-binds.ts";
import { receiptOf, wantsReceipt } from "./receipt.ts";

interface SmppDeliveryDeps {
  binds: LiveBinds;
  clock: Clock;
  /** Receipts and texts older than this are dropped. */
  keptMs: number;
}

type Result = Awaited<ReturnType<FacadeDelivery["deliver"]>>;

/** Delivers receipts and texts from phones to the binds of this node. */
export function createSmppDelivery({ binds, clock, keptMs }: SmppDeliveryDeps): FacadeDelivery {
  const references = new References(Math.random);

  async function deliver(callback: Callback): Promise<Result> {
    const { endpointId, happening } = callback;
    if (happening.at < clock.now() - keptMs) return "nothing to send";
    const bind = binds.receiverOf(endpointId);
    if (!bind) return "away";
    const pdus = pdusOf(callback, bind, references);
    if (pdus.length === 0) return "nothing to send";
    const startedAt = clock.monotonic();
    const outcomes = await Promise.all(pdus.map((pdu) => send(bind, pdu)));
    const ms = Math.round(clock.monotonic() - startedAt);
    const refused = outcomes.find((outcome) => outcome !== STATUS.ESME_ROK);
    bind.counters[refused === undefined ? "delivered" : "failed"] += 1;
    // The bind ended or did not answer: another one, or the next one, gets it again.
    if (refused === "unanswered") return "away";
    if (refused === undefined) return { kind: "delivered", status: STATUS.ESME_ROK, ms, excerpt: "" };
    const { name } = describeStatus(refused);
    const failure = { kind: "failed", status: null, timedOut: false, retryAfter: null, gone: false } as const;
    return { ...failure, reason: `answered ${name}`, ms, excerpt: "" };
  }

  return { deliver };
}

async function send(bind: LiveBind, pdu: DeliverSm): Promise<number | "unanswered"> {
  const outcome = await bind.session.request(pdu);
  return outcome.kind === "answer" ? outcome.pdu.status : "unanswered";
}

function pdusOf({ happening }: Callback, { client: { access } }: LiveBind, references: References): DeliverSm[] {
  if (happening.kind === "inbound") {
    const { inbound } = happening;
    return inboundPdus(inbound, access, () => references.next(inbound.from));
  }
  return happening.kind === "state" ? receiptsOf(happening, access).map((facts) => receiptOf(facts, access)) : [];
}

/** One receipt for each submit that asked for this state: several if the text came in parts. */
function receiptsOf(
  { state, errorCode, at, message }: StateEvent,
  { intermediateReceipts }: Pick<SmppAccess, "intermediateReceipts">,
): Parameters<typeof receiptOf>[0][] {
  if (state === "submitted" && !intermediateReceipts) return [];
  const { callback, messageId, recipient, createdAt } = message;
  const options = callback?.options ?? {};
  const wishes = JSON.parse(String(options["receipts"] ?? "[]")) as ReceiptWish[];
  const source = JSON.parse(String(options["source"] ?? "null")) as Address | null;
  if (source === null) return [];
  const destination = JSON.parse(String(options["destination"] ?? "null")) as Address | null;
  const requestId = parseMessageId(messageId)?.requestId ?? "";
  return wishes
    .filter(({ registeredDelivery }) => wantsReceipt(registeredDelivery, state))
    .map(({ id }) => ({
      id: id ?? requestId,
      state,
      errorCode,
      source,
      destination: destination ?? { ton: 1, npi: 1, address: recipient },
      submittedAt: createdAt,
      at,
    }));
}
