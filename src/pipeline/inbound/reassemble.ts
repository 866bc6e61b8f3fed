import type { Clock } from "../../lib/clock.ts";
import { idOf } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { InboundPart } from "../../model/inbound.ts";
import { givenReference, type InboundStore, type KeptText } from "../../store/inbound.ts";
import { forEachIsolated } from "../../cluster/for-each-isolated.ts";
import { receive, type ReceiveDeps } from "./receive.ts";

export interface ReceivePartsDeps extends ReceiveDeps {
  store: ReceiveDeps["store"] & Pick<InboundStore, "keepInboundPart" | "endInboundParts" | "listIncompleteTexts">;
  clock: Clock;
  /** The whole text, with a mark in place of missing parts. */
  textOf(text: KeptText): string;
}

const MINUTE_MS = 60_000;
/** Time after which missing parts are given up. */
const WAIT_MS = 60 * MINUTE_MS;
const RESTS_AT_ONCE = 200;

/**
 * Stores one part of an inbound text. Resolves once it is on disk; the last part completes the text, on whichever node it
 * arrives. Next: src/pipeline/inbound/receive.ts
 */
export async function receivePart(deps: ReceivePartsDeps, part: InboundPart): Promise<void> {
  const whole = await deps.store.keepInboundPart(part);
  if (whole) await receiveText(deps, whole);
}

/** Receives texts that lack a part for an hour as they are. */
export async function receiveIncomplete(deps: ReceivePartsDeps & { log: Log }): Promise<void> {
  const { store, clock } = deps;
  const rests = await store.listIncompleteTexts(clock.now() - WAIT_MS, RESTS_AT_ONCE);
  await forEachIsolated(deps, "incomplete-inbound-texts", rests, (rest) => receiveText(deps, rest));
}

/** The id is derived from the content, so that the text counts once although two nodes see its last part. */
async function receiveText(deps: ReceivePartsDeps, text: KeptText): Promise<void> {
  const { accountId, carrier, from, to, total, firstAt } = text;
  await receive(deps, {
    id: idOf(firstAt, JSON.stringify([carrier, from, to, givenReference(text), total])),
    accountId,
    channel: "sms",
    from,
    to,
    content: { kind: "text", text: deps.textOf(text).toWellFormed() },
    answers: null,
    at: firstAt,
  });
  await deps.store.endInboundParts(text, deps.clock.now());
}
