import { readFileSync } from "node:fs";
import { createSmppDelivery } from "../facades/smpp/deliver.ts";
import { completeOrGiveUp, type WaitingTextDeps } from "../facades/smpp/give-up.ts";
import { LiveBinds } from "../facades/smpp/live-binds.ts";
import { SmppFacade } from "../facades/smpp/server.ts";
import { BadSetting } from "../config.ts";
import type { FacadeDelivery } from "../webhooks/facade-delivery.ts";
import type { AppBase } from "./base.ts";
import { ServerCertificate, certificateFilesOf } from "./certificate.ts";
import type { AppCluster } from "./cluster.ts";
import type { AppPipeline } from "./pipeline.ts";
import type { AppRecords } from "./records.ts";
import type { AppSecrets } from "./secrets.ts";
import type { AppStorage } from "./storage.ts";
import type { AppWebhooks } from "./webhooks.ts";

const HOUR_MS = 3_600_000;

/** The part of the SMPP server that webhooks need: receipts go out through the binds of this node. */
export interface AppSmppBinds {
  binds: LiveBinds;
  delivery: FacadeDelivery;
}

export function createSmppBinds({ config, clock }: AppBase): AppSmppBinds {
  const binds = new LiveBinds();
  return { binds, delivery: createSmppDelivery({ binds, clock, keptMs: config.smppReceiptHours * HOUR_MS }) };
}

interface OpenSmppServerDeps {
  base: AppBase;
  storage: AppStorage;
  cluster: AppCluster;
  records: AppRecords;
  webhooks: AppWebhooks;
  pipeline: AppPipeline;
  secrets: AppSecrets;
}

export interface AppSmppServer {
  ports: { plain: number | null; tls: number | null };
  tick(): Promise<void>;
  settle(): Promise<void>;
  reloadCertificate(): void;
  stop(): Promise<void>;
}

/** Listens for SMPP clients; null without a port, or on a node without the role. */
export async function openSmppServer(deps: OpenSmppServerDeps): Promise<AppSmppServer | null> {
  const { base, storage, cluster, records, webhooks, pipeline, secrets } = deps;
  const { config, clock, log, metrics } = base;
  const { dispatcher, smpp } = webhooks;
  const { smppPort: port, smppTlsPort: tlsPort } = config;
  if (!config.roles.includes("smpp") || !dispatcher || (port === null && tlsPort === null)) return null;
  const certificate = tlsPort === null ? null : openCertificate(base);
  const waiting: WaitingTextDeps = {
    store: storage.store,
    prepareDeps: pipeline.prepareDeps,
    acceptDeps: pipeline.acceptDeps,
    smsRules: config,
    partSecrets: secrets.smppParts,
    accountOf: records.accountOf,
    complete: (account, text) => completeOrGiveUp(waiting, account, text),
    clock,
    log,
  };
  const server = await SmppFacade.open(
    {
      ...waiting,
      store: storage.store,
      commits: pipeline.commits,
      metrics,
      binds: smpp.binds,
      keyring: records.keyring,
      membership: cluster.membership,
      nodeCount: () => cluster.membership.count,
      claimHeld: (accountId, endpointId) => dispatcher.claimHeld(accountId, endpointId),
      claimAllHeld: (endpoints) => dispatcher.claimAllHeld(endpoints),
    },
    { host: config.smppHost ?? config.host, port, tlsPort, tls: certificate && tlsOptions(base, certificate) },
  );
  certificate?.onChange((pair) => server.setTls(pair));
  return {
    ports: server.ports,
    tick: () => server.tick(),
    settle: () => server.settle(),
    reloadCertificate: () => certificate?.reload(),
    async stop() {
      await server.stop();
      await certificate?.stop();
    },
  };
}

/** The SMPP certificate, or that of the HTTP server. */
function openCertificate({ config, clock, log }: AppBase): ServerCertificate {
  const { smppTlsCertFile, smppTlsKeyFile, tlsCertFile, tlsKeyFile } = config;
  const own = smppTlsCertFile !== null || smppTlsKeyFile !== null;
  const files = own
    ? certificateFilesOf({ tlsCertFile: smppTlsCertFile, tlsKeyFile: smppTlsKeyFile }, "SMPP_TLS")
    : certificateFilesOf({ tlsCertFile, tlsKeyFile });
  if (!files)
    throw new BadSetting(
      "HELIOGRAPH_SMPP_TLS_PORT needs a certificate: set HELIOGRAPH_SMPP_TLS_CERT_FILE and HELIOGRAPH_SMPP_TLS_KEY_FILE",
    );
  return new ServerCertificate(files, { clock, log });
}

/** Clients must have a certificate of the named authority, where there is one. */
function tlsOptions({ config }: AppBase, { current: { cert, key } }: ServerCertificate) {
  const { smppTlsClientCaFile: file } = config;
  if (file === null) return { cert, key };
  try {
    return { cert, key, ca: readFileSync(file, "utf8"), requestCert: true, rejectUnauthorized: true };
  } catch (error) {
    throw new BadSetting(`HELIOGRAPH_SMPP_TLS_CLIENT_CA_FILE: ${file} cannot be read`, { cause: error });
  }
}
