import type { InboundPart } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { idOf } from "../lib/ids.ts";
import { givenReference, type InboundStore, type KeptText } from "../store/inbound-store.ts";
import { receive, type ReceiveNeeds } from "./receive.ts";

export interface ReceivePartsNeeds extends ReceiveNeeds {
  store: ReceiveNeeds["store"] &
    Pick<InboundStore, "keepInboundPart" | "endInboundParts" | "listIncompleteTexts" | "forgetInboundParts">;
  clock: Clock;
  /** The words of a text, with something in the place of parts that are not there. */
  wordsOf(text: KeptText): string;
}

const MINUTE_MS = 60_000;
/** A part that has not come by then does not come. */
const WAIT_MS = 60 * MINUTE_MS;
/** A carrier whose acknowledgement was lost repeats a part within so long. */
const REPEATS_MS = 10 * MINUTE_MS;
const RESTS_AT_ONCE = 200;

/**
 * Takes one part of what a phone sent. Resolves once it is on disk; the text is received when its last part has come, whichever
 * node that comes to. Next: src/messages/receive.ts
 */
export async function receivePart(needs: ReceivePartsNeeds, part: InboundPart): Promise<void> {
  const whole = await needs.store.keepInboundPart(part);
  if (whole) await receiveText(needs, whole);
}

/** Receives what there is of texts whose last part has not come for an hour, and forgets the parts of those received. */
export async function receiveRests(needs: ReceivePartsNeeds): Promise<void> {
  const { store, clock } = needs;
  const rests = await store.listIncompleteTexts(clock.now() - WAIT_MS, RESTS_AT_ONCE);
  for (const rest of rests) await receiveText(needs, rest);
  await store.forgetInboundParts(clock.now() - REPEATS_MS);
}

/** Named by what it is, so that it counts once although two nodes see its last part, or one sees it twice. */
async function receiveText(needs: ReceivePartsNeeds, text: KeptText): Promise<void> {
  const { accountId, carrier, from, to, total, firstAt } = text;
  await receive(needs, {
    id: idOf(firstAt, JSON.stringify([carrier, from, to, givenReference(text), total])),
    accountId,
    channel: "sms",
    from,
    to,
    content: { kind: "text", text: needs.wordsOf(text).toWellFormed() },
    answers: null,
    at: firstAt,
  });
  await needs.store.endInboundParts(text, needs.clock.now());
}
