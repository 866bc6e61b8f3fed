import { isIP } from "node:net";
import type { Config } from "../../config.ts";
import { createGuardedConnector } from "../../egress/guarded-connect.ts";
import type { EgressRules } from "../../egress/addresses.ts";
import { createResolve, type Resolve } from "../../egress/resolve.ts";
import { systemClock } from "../../lib/clock.ts";
import { LOOPBACK_HOSTS } from "../base.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

/** A host that the server connects to, and the records that name it. */
export interface NetworkTarget {
  hostname: string;
  port: number;
  /** Perform a TLS handshake too, with the certificate authorities of the system. */
  secure: boolean;
  usedBy: string;
}

const AT_ONCE = 8;
/** More hosts than this would take minutes if none of them responds. */
const TARGETS_MAX = 200;

/** Checks that the names in our own public URLs resolve. */
export async function checkPublicUrls(
  { baseUrl, shortLinkBase, acmeDomains, host }: Pick<Config, "baseUrl" | "shortLinkBase" | "acmeDomains" | "host">,
  resolve: Resolve = createResolve(),
): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (baseUrl === null && !LOOPBACK_HOSTS.has(host))
    findings.push(
      warning(
        "public URL",
        `HELIOGRAPH_BASE_URL is not set, so links show the address ${host}`,
        "Set HELIOGRAPH_BASE_URL to the URL that clients use.",
      ),
    );
  for (const [setting, url] of [
    ["HELIOGRAPH_BASE_URL", baseUrl],
    ["HELIOGRAPH_SHORT_LINK_BASE", shortLinkBase],
  ] as const)
    if (url !== null) findings.push(await checkName(setting, bareHost(new URL(url)), resolve));
  for (const domain of acmeDomains ?? []) findings.push(await checkName("HELIOGRAPH_ACME_DOMAINS", domain, resolve));
  return findings;
}

async function checkName(setting: string, hostname: string, resolve: Resolve): Promise<Finding> {
  if (isIP(hostname) !== 0) return ok("public URL", `${setting} is the address ${hostname}`);
  try {
    const [first] = await resolve(hostname);
    return ok("public URL", `${setting}: ${hostname} resolves to ${first?.address ?? "no address"}`);
  } catch (error) {
    const fix = `Create a DNS record for ${hostname}, or correct ${setting}.`;
    return problem("public URL", `${setting}: ${reasonOf(error)}`, fix);
  }
}

/** Connects to each host once, by the rules of the egress guard, and closes the connection without sending anything. */
export async function checkTargets(
  targets: readonly NetworkTarget[],
  rules: EgressRules,
  resolve: Resolve = createResolve(),
): Promise<Finding[]> {
  const unique = [...mergeTargets(targets).values()];
  const waiting = unique.slice(0, TARGETS_MAX);
  const connector = createGuardedConnector({ rules, clock: systemClock, resolve });
  const findings: Finding[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) findings.push(await tryTarget(connector, next));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (unique.length > TARGETS_MAX)
    findings.push(ok("egress", `${unique.length - TARGETS_MAX} further hosts were not tried`));
  return findings;
}

function mergeTargets(targets: readonly NetworkTarget[]): Map<string, NetworkTarget> {
  const merged = new Map<string, NetworkTarget>();
  for (const target of targets) {
    const key = `${target.secure ? "tls" : "tcp"} ${target.hostname}:${target.port}`;
    const known = merged.get(key);
    if (!known) merged.set(key, target);
    else if (!known.usedBy.endsWith(OTHERS)) merged.set(key, { ...known, usedBy: `${known.usedBy}${OTHERS}` });
  }
  return merged;
}

const OTHERS = " and others";

async function tryTarget(
  connector: ReturnType<typeof createGuardedConnector>,
  target: NetworkTarget,
): Promise<Finding> {
  const { hostname, port, secure, usedBy } = target;
  const what = `${hostname}:${port} (${usedBy})`;
  const from = performance.now();
  const error = await new Promise<Error | null>((resolve) => {
    const onread = { buffer: Buffer.alloc(1024), callback: () => true };
    connector.connect({ hostname, port, secure, onread }, (fault, socket) => {
      socket?.destroy();
      resolve(fault);
    });
  });
  if (!error) {
    const took = Math.round(performance.now() - from);
    return ok("egress", `${what}: ${secure ? "TLS" : "TCP"} connection in ${took} ms`);
  }
  const fix =
    error.name === "EgressRefused"
      ? "If the network is yours, add it to HELIOGRAPH_EGRESS_ALLOW; otherwise correct the URL."
      : "Check DNS, firewall and the URL; if the host belongs to a customer or carrier, tell them.";
  return warning("egress", `${what}: ${reasonOf(error)}`, fix);
}

/** The target of a URL; null if it has placeholders in its host. The path and query may hold secrets and are dropped. */
export function targetOf(url: string, usedBy: string): NetworkTarget | null {
  if (!URL.canParse(url)) return null;
  const parsed = new URL(url);
  const secure = parsed.protocol === "https:";
  const port = Number(parsed.port) || (secure ? 443 : 80);
  return { hostname: bareHost(parsed), port, secure, usedBy };
}

/** Without the brackets of an IPv6 address. */
const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");
