import { createAgentSends } from "./agent-sends.ts";
import { createAlerts } from "./alerts.ts";
import { createAudiences } from "./audiences.ts";
import { createAudit } from "./audit.ts";
import { createAwaited } from "./awaited-receipts.ts";
import { createCallbacks } from "./callbacks.ts";
import { createCampaignResults } from "./campaign-results.ts";
import { createCampaigns } from "./campaigns.ts";
import { createContactImports } from "./contact-imports.ts";
import { createContacts } from "./contacts.ts";
import { createConversations } from "./conversations.ts";
import { createErasures } from "./erasures.ts";
import { createCatalogQueries } from "./catalog.ts";
import { createCredentials } from "./credentials.ts";
import { createCreditQueries } from "./credits.ts";
import type { Engine } from "./engine.ts";
import { createHold } from "./hold.ts";
import { createInbound } from "./inbound.ts";
import { createInboundParts } from "./inbound-parts.ts";
import { createKeywordUsers } from "./keyword-users.ts";
import { createLinks } from "./links.ts";
import { createMedia } from "./media.ts";
import { createOldestWaiting } from "./oldest-waiting.ts";
import { createOptOutQueries } from "./opt-outs.ts";
import { createOwned } from "./owned.ts";
import { createReading } from "./reading.ts";
import { createRecords } from "./records.ts";
import { createRetention } from "./retention.ts";
import { createSearch } from "./search/search.ts";
import type { ReportingBudget } from "./collect-page.ts";
import { createSearchIndex } from "./search/search-index.ts";
import { createSmppBinds } from "./smpp-binds.ts";
import { createStatsQueries } from "./stats.ts";
import { createStopQueries } from "./stops.ts";
import { createSubmissions } from "./submissions.ts";
import { createSubmittedParts } from "./submitted-parts.ts";
import { createUsers } from "./users.ts";
import { createVerifications } from "./verifications.ts";
import { createVerifyGuard } from "./verify-guard.ts";

/** The queries that are the same on both engines. Reporting queries have a budget. */
export const createSharedQueries = (engine: Engine, budget: ReportingBudget | null = null) => ({
  ...createRecords(engine),
  ...createCredentials(engine),
  ...createCatalogQueries(engine),
  ...createOptOutQueries(engine),
  ...createKeywordUsers(engine),
  ...createStopQueries(engine),
  ...createCreditQueries(engine),
  ...createRetention(engine),
  ...createAwaited(engine),
  ...createReading(engine),
  ...createOldestWaiting(engine),
  ...createSearch(engine, budget),
  ...createSearchIndex(engine),
  ...createOwned(engine),
  ...createSubmissions(engine),
  ...createLinks(engine),
  ...createInbound(engine, budget),
  ...createInboundParts(engine),
  ...createCallbacks(engine, budget),
  ...createVerifications(engine, budget),
  ...createVerifyGuard(engine),
  ...createUsers(engine),
  ...createAgentSends(engine),
  ...createAudiences(engine),
  ...createMedia(engine),
  ...createCampaigns(engine),
  ...createCampaignResults(engine),
  ...createAlerts(engine),
  ...createContacts(engine, budget),
  ...createContactImports(engine),
  ...createConversations(engine, budget),
  ...createErasures(engine),
  ...createAudit(engine, budget),
  ...createStatsQueries(engine),
  ...createHold(engine),
  ...createSmppBinds(engine),
  ...createSubmittedParts(engine),
});
