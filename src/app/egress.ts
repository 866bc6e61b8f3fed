import type { Config } from "../config.ts";
import { EgressRules, type Opened } from "../egress/addresses.ts";
import { createGuardedClient } from "../egress/guarded-connect.ts";
import type { HttpClient } from "../http-client/client.ts";
import { LOOPBACK_HOSTS, type AppBase } from "./base.ts";
import type { AppRecords } from "./records.ts";

export interface AppEgress {
  rules: EgressRules;
  /** The networks that `rules` allow besides public ones, in the form that threads share. */
  opened: Opened;
  client: HttpClient;
}

/** Creates the HTTP client for outgoing requests. Whether it may call loopback follows the number of accounts. */
export function createEgress({ config, clock }: AppBase, { keyring }: AppRecords): AppEgress {
  const loopback = new Uint8Array(new SharedArrayBuffer(1));
  const updateLoopback = (): void =>
    void Atomics.store(loopback, 0, mayCallLoopback(config, keyring.accountCount) ? 1 : 0);
  updateLoopback();
  keyring.onChange(updateLoopback);
  const opened = { allow: config.egressAllow ?? [], loopback };
  const rules = new EgressRules(opened);
  return { rules, opened, client: createGuardedClient({ rules, clock }) };
}

/**
 * SSRF: users choose the URLs of webhooks and see the responses. So only a server that its one account alone can reach may call
 * its own machine. A server behind a proxy listens on loopback as well, and is public all the same.
 */
export function mayCallLoopback({ host, trustProxy, proxyProtocol, baseUrl }: Config, accounts: number): boolean {
  const isPublic = baseUrl !== null && !LOOPBACK_HOSTS.has(new URL(baseUrl).hostname);
  return LOOPBACK_HOSTS.has(host) && !trustProxy && proxyProtocol === null && !isPublic && accounts <= 1;
}
