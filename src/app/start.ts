import type { CreatedAccount } from "../accounts/create-account.ts";
import { firstStart } from "../accounts/first-start.ts";
import type { Config } from "../config.ts";
import type { Store } from "../store/store.ts";
import { createBackupSchedule } from "./backup.ts";
import { createBase, type Overrides } from "./base.ts";
import { createCarriers, startCarriers } from "./carriers.ts";
import { startDiskWatch } from "./disk.ts";
import { joinCluster } from "./cluster.ts";
import { readAppHold } from "./hold.ts";
import { createIntegrityWatch } from "./integrity.ts";
import { createEgress } from "./egress.ts";
import { startAppJobs } from "./jobs.ts";
import { openCertificate } from "./open-certificate.ts";
import { createPipeline } from "./pipeline.ts";
import { openMedia } from "./media.ts";
import { loadRecords } from "./records.ts";
import { loadSecrets } from "./secrets.ts";
import { listen, type AppServer } from "./server.ts";
import { stopInOrder } from "./stop.ts";
import { openSmppServer } from "./smpp-server.ts";
import { openStorage, withErasedOptOuts } from "./storage.ts";
import { createWebhooks } from "./webhooks.ts";

export interface App {
  url: string;
  /** The first account and its secrets; null unless this start created it. */
  firstStart: CreatedAccount | null;
  store: Store;
  /** Reports this node as not ready, and goes on serving until load balancers have had time to notice. */
  drain(skip: AbortSignal): Promise<void>;
  /** Ports of the SMPP server; null where it does not listen. */
  smppPorts: { plain: number | null; tls: number | null };
  /** Ports of the facades that have one of their own. */
  facadePorts: AppServer["facadePorts"];
  /** Reads the TLS certificates again; false if there is none. */
  reloadCertificate(): boolean;
  /** Finishes work in progress and closes everything. */
  stop(): Promise<void>;
}

/** The first of some times; null if there is none. */
function earliest(...times: (number | null | undefined)[]): number | null {
  const least = Math.min(...times.map((time) => time ?? Infinity));
  return least === Infinity ? null : least;
}

const NO_PORTS = { plain: null, tls: null };

/** Starts every component in dependency order. Only this folder chooses the adapter behind each port. */
export async function startApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const created = createBase(config, overrides); // time, logging, metrics, own URLs
  const opened = await openStorage(created); // store open, schema up to date
  const { base, held } = await readAppHold(created, opened); // held after a restore: no role that sends
  const secrets = await loadSecrets(base, opened); // keys for tokens, codes and stored secrets
  const storage = withErasedOptOuts(base, opened, secrets); // opt-outs bind after their number is erased
  const cluster = await joinCluster(base, storage); // this node has an id and is alive
  const records = await loadRecords(base, storage, secrets); // everything that people configure
  const egress = createEgress(base, records); // outgoing HTTP, guarded against SSRF
  const media = openMedia(base, storage, secrets); // a place for the bytes of files

  const webhooks = createWebhooks({ base, storage, secrets, cluster, records, egress });
  const carriers = createCarriers({ base, storage, cluster, records }); // none is connected before startCarriers
  const pipeline = createPipeline({
    base,
    storage,
    secrets,
    cluster,
    records,
    egress,
    webhooks,
    carriers,
    media,
    held,
  });
  await startCarriers({ base, storage, secrets, cluster, records, egress, carriers, media, pipeline }); // from here on receipts can arrive
  const backups = createBackupSchedule(base);
  const watchDisk = await startDiskWatch(base, held); // no send is accepted onto a full disk
  const integrity = await createIntegrityWatch(base, storage); // damage that was found before is known
  const certificate = await openCertificate({ base, storage, secrets }); // HTTPS and SMPP have one certificate
  const smpp = await openSmppServer({ base, storage, secrets, cluster, records, webhooks, pipeline, certificate }); // clients may bind from here on
  const jobs = startAppJobs({
    base,
    storage,
    secrets,
    egress,
    cluster,
    records,
    webhooks,
    carriers,
    pipeline,
    media,
    smpp,
    backups,
    integrity,
    held,
    watchDisk,
    certificateExpiresAt: () => earliest(certificate?.expiresAt, smpp?.certificateExpiresAt()),
  });
  const server = await listen({
    base,
    storage,
    secrets,
    cluster,
    records,
    egress,
    webhooks,
    carriers,
    pipeline,
    media,
    held,
    integrity,
    certificate,
  });

  // After `listen`: if the port were taken, secrets created before it would be lost unseen.
  const first = await firstStart({ store: storage.store, keyring: records.keyring, clock: base.clock }, config);
  await records.catalog.refresh();
  server.setReady();
  pipeline.queues?.fetch();

  return {
    url: server.url,
    firstStart: first,
    store: storage.store,
    drain: server.drain,
    smppPorts: smpp?.ports ?? NO_PORTS,
    facadePorts: server.facadePorts,
    reloadCertificate: () => {
      certificate?.reload();
      const hasOwn = smpp?.reloadCertificate() ?? false;
      return hasOwn || certificate !== null;
    },
    stop: () =>
      stopInOrder({
        server,
        smpp,
        jobs,
        backups,
        integrity,
        pipeline,
        carriers,
        webhooks,
        cluster,
        records,
        egress,
        storage,
      }),
  };
}
