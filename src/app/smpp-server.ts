import { readFileSync } from "node:fs";
import { createSmppDelivery } from "../facades/smpp/deliver.ts";
import { completeOrGiveUp, type WaitingTextDeps } from "../facades/smpp/give-up.ts";
import { LiveBinds } from "../facades/smpp/live-binds.ts";
import { SmppFacade, type SmppListenOptions } from "../facades/smpp/server.ts";
import { BadSetting, type Config } from "../config.ts";
import type { CertificatePair } from "../http/listener/client-listener.ts";
import type { FacadeDelivery } from "../webhooks/facade-delivery.ts";
import type { AppBase } from "./base.ts";
import { certificateFilesOf, ServerCertificate } from "./certificate.ts";
import type { AppCluster } from "./cluster.ts";
import type { AppCertificate } from "./open-certificate.ts";
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
  /** The certificate of HTTPS. */
  certificate: AppCertificate;
}

export interface AppSmppServer {
  ports: { plain: number | null; tls: number | null };
  tick(): Promise<void>;
  settle(): Promise<void>;
  /** Epoch milliseconds; null without a certificate of its own. */
  certificateExpiresAt(): number | null;
  /** Reads its own certificate again; false if it has none. */
  reloadCertificate(): boolean;
  stop(): Promise<void>;
}

/** Listens for SMPP clients; null without a port, or on a node without the role. */
export async function openSmppServer(deps: OpenSmppServerDeps): Promise<AppSmppServer | null> {
  const { base, storage, cluster, records, webhooks, pipeline, secrets } = deps;
  const { config, clock, log, metrics } = base;
  const { dispatcher, smpp } = webhooks;
  const { smppPort: port, smppTlsPort: tlsPort } = config;
  if (!config.roles.includes("smpp") || !dispatcher || (port === null && tlsPort === null)) return null;
  const own = tlsPort === null ? null : openOwnCertificate(base);
  const certificate = own ?? deps.certificate;
  if (tlsPort !== null && !certificate)
    throw new BadSetting(
      "HELIOGRAPH_SMPP_TLS_PORT needs a certificate: set HELIOGRAPH_SMPP_TLS_CERT_FILE and HELIOGRAPH_SMPP_TLS_KEY_FILE, or give the server one (HELIOGRAPH_TLS_CERT_FILE or HELIOGRAPH_ACME_DOMAINS)",
    );
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
    {
      host: config.smppHost ?? config.host,
      port,
      tlsPort,
      tls: certificate && tlsOptions(config, certificate.current),
    },
  );
  certificate?.onChange((pair) => server.setTls(pair));
  return {
    ports: server.ports,
    tick: () => server.tick(),
    settle: () => server.settle(),
    certificateExpiresAt: () => own?.expiresAt ?? null,
    reloadCertificate: () => {
      own?.reload();
      return own !== null;
    },
    async stop() {
      await server.stop();
      await own?.stop();
    },
  };
}

/** The certificate of the SMPP server alone; null if the settings name none. */
function openOwnCertificate({ config, clock, log }: AppBase): ServerCertificate | null {
  const { smppTlsCertFile: tlsCertFile, smppTlsKeyFile: tlsKeyFile } = config;
  const files = certificateFilesOf({ tlsCertFile, tlsKeyFile }, "SMPP_TLS");
  return files && new ServerCertificate(files, { clock, log });
}

/** Asks clients for a certificate of the named authority, where there is one. */
function tlsOptions(config: Config, { cert, key }: CertificatePair): NonNullable<SmppListenOptions["tls"]> {
  const { smppTlsClientCaFile: file } = config;
  if (file === null) return { cert, key };
  const rejectUnauthorized = config.smppTlsClientCerts === "required";
  try {
    return { cert, key, ca: readFileSync(file, "utf8"), requestCert: true, rejectUnauthorized };
  } catch (error) {
    throw new BadSetting(`HELIOGRAPH_SMPP_TLS_CLIENT_CA_FILE: ${file} cannot be read`, { cause: error });
  }
}
