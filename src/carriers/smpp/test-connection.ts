import { bind, type BindResult } from "../../smpp/client.ts";
import type { ConnectionTest } from "../carrier.ts";
import { bindOptionsOf } from "./bind-options.ts";
import type { SmppCarrierDeps } from "./deps.ts";
import { classifyBind } from "./classify-response.ts";

/** Time limit for the person who waits for the result. */
const TEST_LIMIT_MS = 10_000;

/** Binds once, reports the result and unbinds. */
export async function testBind(
  deps: Pick<SmppCarrierDeps, "settings" | "secrets" | "clock" | "addressOf">,
): Promise<ConnectionTest> {
  const startedAt = deps.clock.monotonic();
  const result = await bindOnce(deps);
  if (result.kind === "bound") void result.session.unbind();
  return { ...describeResult(result), ms: Math.round(deps.clock.monotonic() - startedAt) };
}

async function bindOnce(deps: Parameters<typeof testBind>[0]): Promise<BindResult> {
  const { settings, addressOf } = deps;
  const as = settings.bindAs === "transceiver" ? "bind_transceiver" : "bind_transmitter";
  try {
    const options = bindOptionsOf(deps, as, await addressOf(settings.host));
    const limits = { connectTimeoutMs: TEST_LIMIT_MS, responseTimeoutMs: TEST_LIMIT_MS };
    // Refuses deliveries, so that the carrier repeats them on a permanent bind.
    return await bind({ ...options, ...limits, onRequest: () => null });
  } catch (error) {
    return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
  }
}

function describeResult(result: BindResult): Omit<ConnectionTest, "ms"> {
  if (result.kind === "bound") {
    const { systemId } = result;
    return { outcome: "bound", description: "The carrier took the bind", code: null, systemId: systemId || null };
  }
  const verdict = result.kind === "refused" ? classifyBind(result.status) : null;
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
