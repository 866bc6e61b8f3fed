import { mailAlerts } from "../alerts/mail-alerts.ts";
import { watchAlerts } from "../alerts/watch-alerts.ts";
import { noteCarriers } from "../alerts/note-carriers.ts";
import { createAudienceJob } from "../campaigns/check-audience.ts";
import { createErasureJob } from "../contacts/erase.ts";
import { createContactImportJob } from "../contacts/import.ts";
import { createCampaignFeed } from "../campaigns/feed.ts";
import { createOpenAddress } from "../egress/open-address.ts";
import type { BackupSchedule } from "../backup/schedule.ts";
import { listJobs, startJobs, type SendingJobs } from "../cluster/jobs.ts";
import type { IntegrityWatch } from "../cluster/watch-integrity.ts";
import { createMemoryRelease } from "../cluster/release-memory.ts";
import { createDescriptorWatch } from "../cluster/watch-descriptors.ts";
import { resumeDue } from "../otp/resume-due.ts";
import { watchCountries } from "../otp/watch-countries.ts";
import { settleCampaigns } from "../pipeline/campaigns.ts";
import { failOver } from "../pipeline/dispatch/failover.ts";
import { receiveIncomplete } from "../pipeline/inbound/reassemble.ts";
import { applyUnmatched } from "../pipeline/receipts/apply-receipt.ts";
import { endUnreported } from "../pipeline/receipts/end-unreported.ts";
import { matchUnmatched } from "../pipeline/receipts/receive-receipt.ts";
import { syncAllTemplates } from "../pipeline/sync-templates.ts";
import { DAY_MS, sessionLimitsOf, type AppBase } from "./base.ts";
import type { AppCarriers } from "./carriers.ts";
import { createHoldWatch, type AppHold } from "./hold.ts";
import type { AppCluster } from "./cluster.ts";
import type { AppEgress } from "./egress.ts";
import { createFileTransfer } from "../egress/file-transfer.ts";
import { carrierNameOf } from "../model/catalog.ts";
import { createMediaJob } from "../media/work.ts";
import type { AppMedia } from "./media.ts";
import type { AppPipeline } from "./pipeline.ts";
import type { AppRecords } from "./records.ts";
import type { AppSecrets } from "./secrets.ts";
import type { AppSmppServer } from "./smpp-server.ts";
import type { AppStorage } from "./storage.ts";
import type { AppWebhooks } from "./webhooks.ts";

interface StartAppJobsDeps {
  base: AppBase;
  storage: AppStorage;
  secrets: AppSecrets;
  egress: AppEgress;
  cluster: AppCluster;
  records: AppRecords;
  webhooks: AppWebhooks;
  carriers: AppCarriers;
  pipeline: AppPipeline;
  media: AppMedia;
  smpp: AppSmppServer | null;
  backups: BackupSchedule | null;
  /** Null where the database is not a file of this node. */
  integrity: IntegrityWatch | null;
  /** Null where no command can hold the service. */
  held: AppHold | null;
  /** Null where the disk of the database is not this machine's. */
  watchDisk: (() => Promise<void>) | null;
  /** Epoch milliseconds; null without TLS. */
  certificateExpiresAt(): number | null;
}

/** The carriers of this node, as sources of users' files. */
function carrierFiles({ carriers }: StartAppJobsDeps) {
  const find = (accountId: number, name: string) => carriers.connections.find(accountId, carrierNameOf(name));
  return {
    hasCarrier: (accountId: number, name: string) => find(accountId, name) !== null,
    locate: (accountId: number, name: string, uri: string) => find(accountId, name)?.locateFile?.(uri) ?? null,
  };
}

export type AppJobs = ReturnType<typeof startJobs>;

/** Starts the periodic jobs that the roles of this node ask for. */
export function startAppJobs(deps: StartAppJobsDeps): AppJobs {
  const { config, clock, log, metrics } = deps.base;
  const { keyring, catalog } = deps.records;
  const { membership, stats } = deps.cluster;
  const jobs = listJobs({
    store: deps.storage.store,
    membership,
    keyring,
    catalog,
    clock,
    log,
    heartbeatMs: (config.nodeSilentSeconds * 1000) / 3,
    watchDescriptors: createDescriptorWatch({ log, metrics }),
    releaseMemory: createMemoryRelease({ log }),
    linkLifeMs: config.linkDays * DAY_MS,
    sessionLimits: sessionLimitsOf(config),
    auditMs: config.auditDays * DAY_MS,
    stats,
    searchChanges: deps.pipeline.searchChanges,
    checkAudiences: createAudienceJob({
      store: deps.storage.store,
      accountOf: deps.records.accountOf,
      clock,
      rowsMax: config.audienceRowsMax,
      bytesMax: config.audienceMaxMb * 1_048_576,
    }),
    eraseNumbers: createErasureJob({
      store: deps.storage.store,
      cancelDeps: { store: deps.storage.store, commits: deps.pipeline.commits, clock, metrics },
      digestOf: deps.secrets.digestNumber,
      clock,
    }),
    settleMedia: createMediaJob({
      store: deps.storage.store,
      files: deps.media.files,
      stagingFolder: deps.media.stagingFolder,
      transfer: createFileTransfer({ rules: deps.egress.rules, clock }),
      sends: deps.cluster.sends,
      ...carrierFiles(deps),
      bytesMax: config.mediaMaxMb * 1_048_576,
      clock,
      log,
    }),
    importContacts: createContactImportJob({ store: deps.storage.store, clock }),
    feedCampaigns: createCampaignFeed({
      store: deps.storage.store,
      prepareDeps: deps.pipeline.prepareDeps,
      acceptDeps: deps.pipeline.acceptDeps,
      accountOf: deps.records.accountOf,
      clock,
    }),
    watchAlerts: watchAlerts({
      store: deps.storage.store,
      catalog,
      membership,
      clock,
      log,
      certificateExpiresAt: deps.certificateExpiresAt,
      onStored: () => deps.webhooks.planner.onUnownedCallbacks(),
    }),
    mailAlerts: mailAlerts({
      store: deps.storage.store,
      catalog,
      accountOf: deps.records.accountOf,
      decrypt: deps.secrets.endpointSecrets.decrypt,
      addressOf: createOpenAddress({ rules: deps.egress.rules, clock }),
      baseUrl: deps.base.urls.base,
      clock,
      log,
    }),
    webhooks: deps.webhooks.dispatcher,
    smpp: deps.smpp,
    backups: deps.backups,
    integrity: deps.integrity,
    watchHold: deps.held && createHoldWatch({ ...deps, held: deps.held }),
    watchDisk: deps.watchDisk,
    isHeld: Boolean(deps.held?.hold),
    sending: sendingJobs(deps),
  });
  return startJobs({ clock, log }, jobs);
}

/** The work of a node with the role dispatch; null on others. */
function sendingJobs(deps: StartAppJobsDeps): SendingJobs | null {
  const { base, storage, cluster, records, webhooks, carriers, pipeline } = deps;
  const { config, clock, log, metrics } = base;
  const { store } = storage;
  const { catalog, accountOf } = records;
  const { queues, dispatchDeps } = pipeline;
  if (!queues) return null;
  const endingDeps = { ...dispatchDeps, store, receiptGraceMs: config.receiptGraceSeconds * 1000 };
  const otpDeps = { ...pipeline.otpDeps, store, catalog, accountOf, webhookPlanner: webhooks.planner };
  const { membership } = cluster;
  const templateDeps = { store, catalog, carriers: carriers.connections, membership, clock, log };
  return {
    claim: queues.claim,
    claimUrgent: queues.claimUrgent,
    recover: queues.recover,
    failOver: () => failOver(dispatchDeps),
    endUnreported: () => endUnreported(endingDeps),
    settleCampaigns: () => settleCampaigns(dispatchDeps),
    advanceOtps: () => resumeDue(otpDeps),
    watchCountries: watchCountries({ store, clock, log, metrics }),
    applyUnmatched: (ref, receipts) => applyUnmatched(dispatchDeps, ref, receipts),
    matchUnmatched: (receipts) => matchUnmatched(dispatchDeps, receipts),
    divideConnections: () => carriers.connections.updateShares(),
    syncTemplates: () => syncAllTemplates(templateDeps),
    receiveIncomplete: () => receiveIncomplete({ ...pipeline.receiveDeps, log }),
    noteCarriers: () => noteCarriers({ store, carriers: carriers.connections, clock }),
    resendOverdue: () => carriers.simulator.resendOverdue(),
  };
}
