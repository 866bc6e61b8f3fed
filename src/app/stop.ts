import type { BackupSchedule } from "../backup/schedule.ts";
import type { IntegrityWatch } from "../cluster/watch-integrity.ts";
import type { AppCarriers } from "./carriers.ts";
import type { AppCluster } from "./cluster.ts";
import type { AppEgress } from "./egress.ts";
import type { AppJobs } from "./jobs.ts";
import type { AppPipeline } from "./pipeline.ts";
import type { AppRecords } from "./records.ts";
import type { AppServer } from "./server.ts";
import type { AppSmppServer } from "./smpp-server.ts";
import type { AppStorage } from "./storage.ts";
import type { AppWebhooks } from "./webhooks.ts";

interface StopDeps {
  server: AppServer;
  smpp: AppSmppServer | null;
  jobs: AppJobs;
  backups: BackupSchedule | null;
  integrity: IntegrityWatch | null;
  pipeline: AppPipeline;
  carriers: AppCarriers;
  webhooks: AppWebhooks;
  cluster: AppCluster;
  records: AppRecords;
  egress: AppEgress;
  storage: AppStorage;
}

/** Finishes work in progress and closes every component, each before those that it needs. */
export async function stopInOrder(deps: StopDeps): Promise<void> {
  const { server, smpp, jobs, backups, integrity, pipeline, carriers, webhooks, cluster, records, egress, storage } =
    deps;
  await Promise.all([server.close(), smpp?.stop()]);
  pipeline.admission.close();
  integrity?.stop();
  await backups?.stop();
  await jobs.stop();
  server.stopMonitoring();
  pipeline.requestAge.stop();
  // Queues and connections stop together: connections wait for the answers to messages in flight, within a limit of their own.
  const queuesStopped = pipeline.queues?.stop();
  carriers.connections.beginStop();
  await queuesStopped;
  await carriers.connections.stop();
  await pipeline.commits.idle();
  await webhooks.dispatcher?.stop();
  await server.links.idle();
  await cluster.stats.flush();
  await records.keyring.saveUses();
  await records.catalog.saveLearned();
  egress.client.destroy();
  await webhooks.transport.close();
  await cluster.membership.leave();
  await storage.close();
}
