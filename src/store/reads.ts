import { queryCaller } from "./query-caller.ts";
import type { Store } from "./store.ts";

/**
 * Names of methods that only read. A new one needs a line in the table below, or the types do not match.
 */
type ReadName = Extract<
  keyof Store,
  | `find${string}`
  | `list${string}`
  | `count${string}`
  | `sum${string}`
  | `search${string}`
  | "areOptedOut"
  | "clicksOverTime"
  | "databaseBytes"
  | "lastInboundAt"
  | "lastInboundOfEach"
  | "phoneMessagesSince"
  | "testRequestsAmong"
>;

/**
 * Every read of the store, and who waits for it.
 *
 * - `pipeline`: the message pipeline, a one-time password, a redirect, or a client that asks for one record. These read a
 *   few rows by an index and share the connections of the writes on PostgreSQL, and one reader thread on SQLite.
 * - `reporting`: lists, searches, counts and statistics for people, which may read much. In a request they have connections
 *   (PostgreSQL) or threads (SQLite) of their own, a queue and a time limit, so they never delay a send. Outside a request,
 *   in a job, they are read like the pipeline's.
 */
// prettier-ignore
export const READS = {
  findMessage:            "pipeline",
  findCarrierMessageId:   "pipeline",
  findHold:               "pipeline",
  countUnsent:            "pipeline",
  countPlans:             "pipeline",
  listUnsent:             "pipeline",
  listEachUnsent:         "pipeline",
  listUnsentCampaigns:    "pipeline",
  listMessages:           "reporting",
  listRequest:            "pipeline",
  listCampaignMessages:   "pipeline",
  countCampaigns:         "reporting",
  countWaiting:           "reporting",
  countWaitingMessages:   "reporting",
  listOldestWaiting:      "reporting",
  findOldestCallback:     "reporting",
  findAnswer:             "pipeline",
  testRequestsAmong:      "pipeline",

  listSearchChanges:      "pipeline",
  listDueBlocks:          "pipeline",

  listOwned:              "pipeline",
  listFailovers:          "pipeline",
  listAwaited:            "pipeline",

  findSubmissions:        "pipeline",
  findRespelled:          "pipeline",
  listMatchable:          "pipeline",
  listParts:              "pipeline",
  listIdForms:            "pipeline",
  findUnmatched:          "pipeline",
  listUnmatched:          "reporting",

  areOptedOut:            "pipeline",
  findStops:              "pipeline",
  findOptOut:             "pipeline",
  listOptOuts:            "reporting",
  countOptOuts:           "reporting",

  findBalance:            "pipeline",
  listLedger:             "reporting",
  listLedgerOfMessage:    "reporting",

  findLinks:              "pipeline",
  listLinksOfMessage:     "pipeline",
  listClicksOfMessage:    "pipeline",
  listLinkTargets:        "reporting",
  findLinkTarget:         "reporting",
  findLink:               "reporting",
  clicksOverTime:         "reporting",

  lastInboundAt:          "pipeline",
  lastInboundOfEach:      "pipeline",
  findInbound:            "pipeline",
  findLastInbound:        "reporting",
  findErasure:            "pipeline",
  findErasureOf:          "pipeline",
  countUnsearchedFiles:   "pipeline",
  countErasedOptOuts:     "pipeline",
  findConversation:       "pipeline",
  listConversations:      "reporting",
  findContactNames:       "reporting",
  countUnreadConversations: "reporting",
  listAnswers:            "pipeline",
  listIncompleteTexts:    "pipeline",
  listInbound:            "reporting",

  findCallback:           "pipeline",
  findHealth:             "pipeline",
  listOwnedCallbacks:     "pipeline",
  listHeld:               "pipeline",
  listCallbacks:          "reporting",
  listCallbacksOfMessage: "reporting",
  listCallbacksAbout:     "reporting",
  listEvents:             "reporting",
  countWaitingOf:         "reporting",
  countWaitingCallbacks:  "reporting",

  countDelivered:         "pipeline",
  findVerification:       "pipeline",
  findVerificationOf:     "pipeline",
  findLatestVerification: "pipeline",
  listDueVerifications:   "pipeline",
  listVerifications:      "reporting",
  countConversion:        "reporting",
  countTraffic:           "reporting",
  countCountryHours:      "reporting",
  countFunnel:            "reporting",
  listBlocks:             "reporting",

  listAccounts:           "pipeline",
  listKeys:               "pipeline",
  listCredentials:        "pipeline",
  listCatalog:            "pipeline",
  findUser:               "pipeline",
  findUserById:           "pipeline",
  findSession:            "pipeline",
  listSessions:           "pipeline",
  findInvitation:         "pipeline",
  listUsers:              "reporting",
  listAudit:              "reporting",
  countAgentUse:          "pipeline",
  findAgentSend:          "pipeline",
  findAgentSendByToken:   "pipeline",
  listAgentSends:         "pipeline",

  countAudiences:         "pipeline",
  findAudience:           "pipeline",
  listAudiences:          "pipeline",
  listAudienceRecipients: "pipeline",
  listAudienceFaults:     "pipeline",
  findAudienceBytes:      "pipeline",
  countUncheckedAudiences: "pipeline",

  findMedia:              "pipeline",
  findMediaList:          "pipeline",
  findMediaByContent:     "pipeline",
  countMediaBytes:        "pipeline",
  listMedia:              "reporting",
  listDueMedia:           "pipeline",
  countMediaOfNumber:     "pipeline",
  findMediaUpload:        "pipeline",

  findAlert:              "pipeline",
  findMute:               "pipeline",
  listAlerts:             "reporting",
  listOpenAlerts:         "pipeline",
  listCarrierSightings:   "pipeline",
  listFailingEndpoints:   "pipeline",
  findContact:            "pipeline",
  findContacts:           "pipeline",
  listContacts:           "reporting",
  listContactAttributes:  "pipeline",
  findContactImport:      "pipeline",
  listContactImports:     "pipeline",

  findCampaign:           "pipeline",
  listCampaigns:          "pipeline",
  listCampaignNames:      "pipeline",
  findCampaignOfAudience: "pipeline",
  findClaimedCampaign:    "pipeline",
  listWaitingMessages:    "pipeline",
  countCampaignMessages:  "pipeline",
  countCampaignsOf:       "pipeline",
  countTestMessages:      "reporting",

  sumStats:               "reporting",
  listStats:              "reporting",
  sumGroups:              "reporting",
  sumCampaign:            "reporting",
  listCampaignSteps:      "reporting",
  countCampaignClicks:    "reporting",
  listGroups:             "reporting",
  listCodeTexts:          "reporting",

  listUnreported:         "pipeline",
  phoneMessagesSince:     "pipeline",
  listPhones:             "reporting",
  listTestPhones:         "reporting",
  listPhoneMessages:      "pipeline",

  countNodes:             "pipeline",
  listNodes:              "pipeline",
  databaseBytes:          "reporting",

  listBinds:              "reporting",
  findBind:               "reporting",
  listNodeBinds:          "pipeline",
  listSubmittedTexts:     "pipeline",
  findSubmittedRequest:   "pipeline",
} as const satisfies Record<ReadName, "pipeline" | "reporting">;

type ReportingName = { [K in ReadName]: (typeof READS)[K] extends "reporting" ? K : never }[ReadName];

type ReportingReads = Pick<Store, ReportingName>;

const REPORTING_READS = Object.entries(READS)
  .filter(([, waiting]) => waiting === "reporting")
  .map(([name]) => name as ReportingName);

/** Serves the reporting reads of requests by connections of their own, and all others as before. */
export function separateReporting(store: Store, reporting: ReportingReads): Store {
  const separated = REPORTING_READS.map((name) => {
    const ours = store[name] as (...args: unknown[]) => unknown;
    const theirs = reporting[name] as (...args: unknown[]) => unknown;
    return [name, (...args: unknown[]) => (queryCaller() ? theirs(...args) : ours(...args))];
  });
  return { ...store, ...(Object.fromEntries(separated) as ReportingReads) };
}
