import { listOfNetworks, readNetwork } from "../lib/network.ts";
import type { ApiKey } from "../model/api-key.ts";
import { Problem } from "../model/problem.ts";
import type { Caller } from "./caller.ts";

type Limits = Pick<ApiKey, "expiresAt" | "allowedIps">;

/**
 * Privilege escalation: a key that manages keys cannot exceed its own limits or widen those of another key. Keys it creates expire
 * no later than itself and allow no more addresses. Otherwise a stolen key with limits could create one without. Users with a
 * session are not bound by this.
 */
export function refuseWiderKey({ session, key }: Caller, before: Limits | null, after: Limits): void {
  if (session) return;
  const own = { expiresAt: key.expiresAt ?? null, allowedIps: key.allowedIps ?? [] };
  for (const [limits, whose] of [[own, "its own"], ...(before ? [[before, "that key's"] as const] : [])] as const) {
    if (limits.expiresAt !== null && (after.expiresAt === null || after.expiresAt > limits.expiresAt))
      refuse(`A key cannot go beyond ${whose} expiry.`);
    if (!isWithin(limits.allowedIps, after.allowedIps)) refuse(`A key cannot go beyond ${whose} address list.`);
  }
}

function refuse(message: string): never {
  throw new Problem("INSUFFICIENT_SCOPE", { message: `${message} An owner who is logged in can.` });
}

/** True if the outer list contains every address of the inner one. An empty list contains all addresses. */
function isWithin(outer: readonly string[], inner: readonly string[]): boolean {
  if (outer.length === 0) return true;
  if (inner.length === 0) return false;
  return inner.every((entry) => {
    const network = readNetwork(entry);
    return network !== null && outer.some((each) => contains(each, network));
  });
}

function contains(outer: string, { address, prefix, family }: NonNullable<ReturnType<typeof readNetwork>>): boolean {
  const network = readNetwork(outer);
  if (network?.family !== family || network.prefix > prefix) return false;
  return listOfNetworks([outer]).check(address, family);
}
