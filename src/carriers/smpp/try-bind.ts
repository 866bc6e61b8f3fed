import { bind, type BindResult } from "../../smpp/client.ts";
import type { BindTrial } from "../carrier.ts";
import { bindOptionsOf } from "./bind-options.ts";
import type { SmppCarrierNeeds } from "./needs.ts";
import { judgeBind } from "./status.ts";

/** How long somebody waits for the answer. */
const PATIENCE_MS = 10_000;

/** Binds once with some settings, says what happened and unbinds: whoever sets up a line learns at once what is wrong. */
export async function tryBind(
  needs: Pick<SmppCarrierNeeds, "settings" | "secrets" | "clock" | "addressOf">,
): Promise<BindTrial> {
  const startedAt = needs.clock.monotonic();
  const result = await bindOnce(needs);
  if (result.kind === "bound") void result.session.unbind();
  return { ...wordsFor(result), ms: Math.round(needs.clock.monotonic() - startedAt) };
}

async function bindOnce(needs: Parameters<typeof tryBind>[0]): Promise<BindResult> {
  const { settings, addressOf } = needs;
  const as = settings.bindAs === "transceiver" ? "bind_transceiver" : "bind_transmitter";
  try {
    const options = bindOptionsOf(needs, as, await addressOf(settings.host));
    const limits = { connectTimeoutMs: PATIENCE_MS, responseTimeoutMs: PATIENCE_MS };
    // Nothing is taken on such a bind: what the carrier delivers by it comes again on one that stays.
    return await bind({ ...options, ...limits, onRequest: () => null });
  } catch (error) {
    return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
  }
}

function wordsFor(result: BindResult): Omit<BindTrial, "ms"> {
  if (result.kind === "bound") {
    const { systemId } = result;
    return { outcome: "bound", description: "The carrier took the bind", code: null, systemId: systemId || null };
  }
  const verdict = result.kind === "refused" ? judgeBind(result.status) : null;
  if (verdict?.kind === "refused")
    return { outcome: "refused", description: verdict.description, code: verdict.code, systemId: null };
  const reason = result.kind === "unreachable" ? result.reason : "no answer";
  return {
    outcome: "unreachable",
    description: `The carrier cannot be reached: ${reason}`,
    code: null,
    systemId: null,
  };
}
