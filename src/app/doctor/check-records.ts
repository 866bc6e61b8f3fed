import { findMasterKey } from "../../accounts/master-key.ts";
import type { Config } from "../../config.ts";
import { EgressRules } from "../../egress/addresses.ts";
import { systemClock } from "../../lib/clock.ts";
import type { CatalogRecord, RealCarrierContent } from "../../model/catalog.ts";
import type { Store } from "../../store/store.ts";
import { mayCallLoopback } from "../egress.ts";
import { openStore } from "../storage.ts";
import { checkAcme } from "./check-certificate.ts";
import { checkTargets, targetOf, type NetworkTarget } from "./check-network.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

/** Checks what the database holds: its master key, the running nodes, carriers and endpoints. Changes no data. */
export async function checkRecords(config: Config): Promise<Finding[]> {
  const store = await openStore(config, systemClock);
  try {
    const accounts = await store.listAccounts();
    const records = await store.listCatalog();
    const loopback = mayCallLoopback(config, accounts.length);
    const rules = new EgressRules({ allow: config.egressAllow ?? [], loopback });
    return [
      await checkKey(store, config),
      await checkNodes(store),
      ...(await checkAcme(store, config)),
      ...checkEndpoints(records),
      ...(await checkTargets(records.flatMap(targetsOf), rules)),
    ];
  } finally {
    await store.close();
  }
}

async function checkKey(store: Store, { masterKey, dataDir }: Config): Promise<Finding> {
  try {
    const key = await findMasterKey(store, masterKey, dataDir);
    return ok("master key", key === null ? "the first start sets it" : "is that of the database");
  } catch (error) {
    const fix = "Without it no stored secret can be read: restore it from a backup.";
    return problem("master key", reasonOf(error), fix);
  }
}

async function checkNodes(store: Store): Promise<Finding> {
  const nodes = await store.listNodes();
  if (nodes.length === 0) return ok("nodes", "none is running");
  const oldest = Math.max(...nodes.map(({ silentMs }) => silentMs));
  return ok("nodes", `${nodes.length} joined, oldest heartbeat ${(oldest / 1000).toFixed(1)} s ago`);
}

/** Endpoints that Heliograph has switched off. Those that a person has switched off are meant to be off. */
function checkEndpoints(records: readonly CatalogRecord[]): Finding[] {
  const endpoints = records.filter(isEndpoint);
  const off = endpoints.filter(({ content }) => !content.enabled && content.disabledReason !== null);
  if (off.length === 0) return [ok("webhooks", `${endpoints.length} configured, none is switched off by failures`)];
  return off.map(({ accountId, kind, name, content }) =>
    warning(
      "webhooks",
      `${LABELS[kind]} ${JSON.stringify(name)} of account ${accountId} is switched off: ${content.disabledReason ?? ""}`,
      "Repair its receiver and enable it again on the dashboard's page Webhooks; waiting callbacks are sent then.",
    ),
  );
}

type EndpointRecord = CatalogRecord<"webhook"> | CatalogRecord<"dlrConfig">;

const LABELS = { webhook: "webhook", dlrConfig: "delivery-report endpoint" } as const;

const isEndpoint = (record: CatalogRecord): record is EndpointRecord =>
  record.kind === "webhook" || record.kind === "dlrConfig";

const isCarrier = (record: CatalogRecord): record is CatalogRecord<"carrier"> => record.kind === "carrier";

function targetsOf(record: CatalogRecord): NetworkTarget[] {
  if (isEndpoint(record)) {
    const usedBy = `${LABELS[record.kind]} of account ${record.accountId}`;
    return record.content.enabled ? asList(targetOf(record.content.url, usedBy)) : [];
  }
  if (!isCarrier(record) || record.content.adapter === "simulator") return [];
  return asList(carrierTarget(record.content, `carrier ${JSON.stringify(record.name)} of account ${record.accountId}`));
}

const asList = (target: NetworkTarget | null): NetworkTarget[] => (target ? [target] : []);

/** Address of a carrier. The check does not bind, because one more bind could end one of the running server. */
function carrierTarget(content: RealCarrierContent, usedBy: string): NetworkTarget | null {
  if (content.adapter === "http") return targetOf(content.http.baseUrl, usedBy);
  if (content.adapter === "whatsapp") return targetOf(content.whatsapp.baseUrl, usedBy);
  if (content.adapter === "rbm") return targetOf(content.rbm.baseUrl, usedBy);
  if (content.adapter === "email")
    return { hostname: content.email.host, port: content.email.port, secure: false, usedBy };
  // A carrier may have a certificate authority of its own, so the handshake is left to its connection test.
  return { hostname: content.smpp.host, port: content.smpp.port, secure: false, usedBy };
}
