import type { Config } from "../config.ts";
import { assemble } from "../smpp-text/reassemble.ts";
import type { Alphabet } from "../smpp-text/coding.ts";
import { createMediaProbe, type MediaProbe } from "../egress/media-probe.ts";
import type { Encryption } from "../lib/encryption.ts";
import { carrierNameOf } from "../model/catalog.ts";
import type { RouteClass } from "../model/message.ts";
import type { CheckOtpDeps } from "../otp/check.ts";
import { endStateOfCode } from "../otp/code-end.ts";
import type { GenerateOtpDeps } from "../otp/generate.ts";
import { advanceOnFailure } from "../otp/advance-on-failure.ts";
import type { AcceptDeps } from "../pipeline/accept/accept.ts";
import { AdmissionController } from "../pipeline/accept/admission-controller.ts";
import { createEncryptedTexts } from "../pipeline/accept/encrypted-text.ts";
import type { PrepareDeps } from "../pipeline/accept/prepare.ts";
import { RequestAge } from "../pipeline/accept/request-age.ts";
import type { CampaignDeps } from "../pipeline/campaigns.ts";
import { CarrierLimiter } from "../pipeline/dispatch/carrier-limiter.ts";
import { ClaimYield } from "../pipeline/dispatch/claim-yield.ts";
import type { DispatchDeps } from "../pipeline/dispatch/dispatch-deps.ts";
import type { FailOverDeps } from "../pipeline/dispatch/failover.ts";
import { openQueues, type OpenedQueues } from "../pipeline/dispatch/open-queues.ts";
import { SimulatedLive } from "../pipeline/dispatch/simulated-live.ts";
import { UrgentRows } from "../pipeline/dispatch/urgent-rows.ts";
import { StopGuard } from "../pipeline/dispatch/stop-guard.ts";
import { createGroupCommit, type GroupCommit } from "../pipeline/group-commit.ts";
import { SearchChanges } from "../pipeline/search-changes.ts";
import { createSendReply } from "../pipeline/inbound/send-reply.ts";
import type { ReceivePartsDeps } from "../pipeline/inbound/reassemble.ts";
import { DuplicateTextFilter } from "../pipeline/policy/duplicate-text.ts";
import { RecentSubmissions } from "../pipeline/receipts/recent-submissions.ts";
import type { KeptText } from "../store/inbound.ts";
import { DAY_MS, type AppBase } from "./base.ts";
import type { AppCarriers } from "./carriers.ts";
import type { AppCluster } from "./cluster.ts";
import type { AppHold } from "./hold.ts";
import type { AppEgress } from "./egress.ts";
import type { AppMedia } from "./media.ts";
import type { AppRecords } from "./records.ts";
import type { AppSecrets } from "./secrets.ts";
import type { AppStorage } from "./storage.ts";
import type { AppWebhooks } from "./webhooks.ts";

/** Texts and numbers that the duplicate-text filter remembers on each node. */
const DUPLICATE_TEXT_ENTRIES = 200_000;

export interface AppPipeline {
  commits: GroupCommit;
  searchChanges: SearchChanges;
  stopGuard: StopGuard;
  simulatedLive: SimulatedLive;
  /** Null on a node without the role dispatch. */
  queues: OpenedQueues | null;
  admission: AdmissionController;
  requestAge: RequestAge;
  prepareDeps: PrepareDeps;
  acceptDeps: AcceptDeps;
  otpDeps: GenerateOtpDeps & CheckOtpDeps & { encryption: Encryption };
  dispatchDeps: DispatchDeps & FailOverDeps & CampaignDeps;
  receiveDeps: ReceivePartsDeps;
}

interface CreatePipelineDeps {
  base: AppBase;
  storage: AppStorage;
  secrets: AppSecrets;
  cluster: AppCluster;
  records: AppRecords;
  egress: AppEgress;
  webhooks: AppWebhooks;
  carriers: AppCarriers;
  media: AppMedia;
  held: AppHold;
}

/** Used by several stages of the pipeline. */
interface SharedParts extends Pick<AppPipeline, "commits" | "searchChanges" | "stopGuard" | "simulatedLive"> {
  urgentRows: UrgentRows;
  media: MediaProbe;
  words: ReturnType<typeof createEncryptedTexts>;
}

/** Creates the stages that a message passes, from accept to receipt. Nothing runs before `startCarriers` and `startJobs`. */
export function createPipeline(deps: CreatePipelineDeps): AppPipeline {
  const { base, storage, secrets, records } = deps;
  const { config, clock, log, metrics } = base;
  const shared = createSharedParts(deps);
  const { commits, searchChanges, stopGuard, simulatedLive, words } = shared;
  const dispatchDeps = createDispatchDeps(deps, shared);
  const queues = createQueues(deps, dispatchDeps);
  if (queues) shared.urgentRows.onDue(queues.fetchUrgent);
  const admission = new AdmissionController({ clock, commits, sending: queues }, config);
  const requestAge = new RequestAge(config.requestPatienceSeconds * 1000);
  const { acceptDeps, prepareDeps } = createAcceptDeps(deps, shared, { queues, admission, requestAge });
  return {
    commits,
    searchChanges,
    stopGuard,
    simulatedLive,
    queues,
    admission,
    requestAge,
    prepareDeps,
    acceptDeps,
    otpDeps: {
      preparing: prepareDeps,
      accepting: acceptDeps,
      commits,
      encryptedTexts: words,
      encryption: secrets.otpTexts,
      digestOf: secrets.otpDigest,
      clock,
      log,
      metrics,
    },
    dispatchDeps,
    receiveDeps: {
      store: storage.store,
      commits,
      metrics,
      stopGuard: stopGuard,
      clock,
      accountOf: records.accountOf,
      hasFiles: (accountId, carrier) =>
        deps.carriers.connections.find(accountId, carrierNameOf(carrier))?.locateFile !== undefined,
      textOf: textOf,
      sendReply: createSendReply({ preparing: prepareDeps, accepting: acceptDeps, log }),
    },
  };
}

function createSharedParts({
  base,
  storage,
  secrets,
  cluster,
  records,
  egress,
  webhooks,
}: CreatePipelineDeps): SharedParts {
  const { config, clock, log } = base;
  const { store } = storage;
  const urgentRows = new UrgentRows(clock);
  const observers = [cluster.stats, cluster.live, advanceOnFailure({ store, clock, log }), urgentRows];
  const searchChanges = new SearchChanges({ store, clock });
  const commitDeps = { store, clock, log, webhookPlanner: webhooks.planner, searchChanges, observers };
  return {
    urgentRows,
    commits: createGroupCommit(commitDeps, config),
    searchChanges,
    stopGuard: new StopGuard({ store, clock }),
    simulatedLive: new SimulatedLive({ catalog: records.catalog, clock, log }),
    media: createMediaProbe({ egress: egress.client, clock, log }),
    words: createEncryptedTexts(secrets.otpTexts),
  };
}

function createDispatchDeps(
  { base, storage, cluster, records, carriers }: CreatePipelineDeps,
  { commits, stopGuard, simulatedLive, media, words }: SharedParts,
): AppPipeline["dispatchDeps"] {
  const { clock, log, metrics } = base;
  const { store } = storage;
  const { membership } = cluster;
  return {
    commits,
    store,
    membership,
    catalog: records.catalog,
    carriers: carriers.connections,
    carrierLimiter: new CarrierLimiter({ clock, nodeCount: () => membership.count }),
    claimYield: new ClaimYield(),
    accountOf: records.accountOf,
    media,
    encryptedTexts: words,
    simulatedLive,
    endStateOfCode: (message) => endStateOfCode({ store, clock }, message),
    stopGuard: stopGuard,
    clock,
    log,
    metrics,
    recentSubmissions: new RecentSubmissions(clock),
  };
}

function createQueues({ base, storage, cluster }: CreatePipelineDeps, dispatchDeps: DispatchDeps): OpenedQueues | null {
  if (!cluster.sends) return null;
  const queues = openQueues(dispatchDeps, storage.store, base.config);
  return { ...queues, backpressure: base.overrides.backpressure ?? queues.backpressure };
}

function createAcceptDeps(
  { base, storage, secrets, cluster, records, media: library, held }: CreatePipelineDeps,
  { commits, media }: SharedParts,
  { queues, admission, requestAge }: Pick<AppPipeline, "queues" | "admission" | "requestAge">,
): Pick<AppPipeline, "acceptDeps" | "prepareDeps"> {
  const { config, clock, log, metrics, urls } = base;
  const { store } = storage;
  const duplicateTexts = new DuplicateTextFilter({ entriesMax: DUPLICATE_TEXT_ENTRIES });
  const shared = {
    store,
    commits,
    clock,
    duplicateTexts,
    validityMs: validityOf(config),
    shortLinkBase: urls.shortLinks,
  };
  return {
    prepareDeps: { ...shared, catalog: records.catalog, media, library: library.library, smsRules: config },
    acceptDeps: {
      ...shared,
      requestAge: requestAge,
      admission,
      gate: held.gate,
      membership: cluster.membership,
      log,
      metrics,
      sending: queues,
      linkLifeMs: config.linkDays * DAY_MS,
      bodyDigest: secrets.bodyDigest,
      keysInProgress: new Set(),
    },
  };
}

const validityOf = (config: Config): Record<RouteClass, number> => ({
  OTP: config.validityOtpSeconds * 1000,
  TRANS: config.validityTransSeconds * 1000,
  PROMO: config.validityPromoSeconds * 1000,
});

/** The text of a multipart message, with an ellipsis in place of each missing part. */
const textOf = ({ parts, total, alphabet }: KeptText): string =>
  assemble(
    parts.map(({ octets, ...part }) => ({ ...part, bytes: octets, total, reference: 0 })),
    alphabet as Alphabet,
    "…",
  )?.text ?? "";
