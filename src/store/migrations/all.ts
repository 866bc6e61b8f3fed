import { ground } from "./0001-ground.ts";
import { sms } from "./0002-sms.ts";
import { links } from "./0003-links.ts";
import { channels } from "./0004-channels.ts";
import { callbacks } from "./0005-callbacks.ts";
import { verify } from "./0006-verify.ts";
import { carriers } from "./0008-carriers.ts";
import { users } from "./0010-users.ts";
import { figures } from "./0011-figures.ts";
import { lines } from "./0012-lines.ts";
import { figureWriters } from "./0013-figure-writers.ts";
import { callbacksOfMessage } from "./0014-callbacks-of-message.ts";
import { waiting } from "./0015-waiting.ts";
import { waitingWithoutList } from "./0016-waiting-without-list.ts";
import { roomToGrow } from "./0017-room-to-grow.ts";
import { messageEnds } from "./0020-message-ends.ts";
import { askedSender } from "./0020-sender-asked.ts";
import { callbackOrder } from "./0021-callback-order.ts";
import { inboundEvents } from "./0022-inbound-events.ts";
import { testKeys } from "./0023-test-keys.ts";
import { testMode } from "./0025-test-mode.ts";
import { search } from "./0026-search.ts";
import { campaignCounts } from "./0027-campaign-counts.ts";
import { linkCounts, linkCountsBackfill } from "./0027-link-counts.ts";
import { promptVacuum } from "./0028-prompt-vacuum.ts";
import { boundedLists } from "./0031-bounded-lists.ts";
import { searchZones } from "./0032-search-zones.ts";
import { credentials } from "./0033-credentials.ts";
import { messageCallbacks } from "./0034-message-callbacks.ts";
import { verifyFunnel } from "./0035-verify-funnel.ts";
import { invitations } from "./0036-invitations.ts";
import { smppServer } from "./0036-smpp-server.ts";
import { repeatedParts } from "./0037-repeated-parts.ts";
import { verifySources } from "./0041-verify-sources.ts";
import { agents } from "./0042-agents.ts";
import { audiences } from "./0043-audiences.ts";
import { figureGroups } from "./0043-figure-groups.ts";
import { auditChanges } from "./0044-audit-changes.ts";
import { campaigns } from "./0044-campaigns.ts";
import { keywordUsers } from "./0055-keyword-users.ts";
import { contacts } from "./0060-contacts.ts";
import { conversations } from "./0061-conversations.ts";
import { erasures } from "./0062-erasures.ts";
import { alerts } from "./0065-alerts.ts";
import { media } from "./0076-media.ts";
import { campaignFigures } from "./0084-campaign-figures.ts";
import { audienceSheets } from "./0066-audience-sheets.ts";
import type { Migration } from "./migration.ts";

/** In order of application. A released migration never changes; a schema change is a new entry. */
export const MIGRATIONS: readonly Migration[] = [
  ground,
  sms,
  links,
  channels,
  callbacks,
  verify,
  carriers,
  users,
  figures,
  lines,
  figureWriters,
  callbacksOfMessage,
  waiting,
  waitingWithoutList,
  roomToGrow,
  messageEnds,
  askedSender,
  callbackOrder,
  inboundEvents,
  testKeys,
  testMode,
  search,
  campaignCounts,
  linkCounts,
  linkCountsBackfill,
  promptVacuum,
  boundedLists,
  searchZones,
  credentials,
  messageCallbacks,
  verifyFunnel,
  invitations,
  smppServer,
  repeatedParts,
  verifySources,
  agents,
  audiences,
  figureGroups,
  auditChanges,
  campaigns,
  keywordUsers,
  contacts,
  conversations,
  erasures,
  alerts,
  audienceSheets,
  media,
  campaignFigures,
];

/** The release of this source, which a test compares with `package.json`. */
export const RELEASE = "0.1.0";

/** A migration as the database records it. */
export interface AppliedMigration {
  name: string;
  /** See `Migration.worksWith`; null if every release must know the migration. */
  worksWith: string | null;
}

/** A newer release has migrated this database. */
export class SchemaTooNew extends Error {
  override name = "SchemaTooNew";
}

/** The migrations still to apply, given those applied. Unknown ones are of a newer release, and may work with this one. */
export function pendingMigrations(
  done: readonly AppliedMigration[],
  known: readonly Migration[] = MIGRATIONS,
): Migration[] {
  const unknown = done.filter(({ name }) => !known.some((migration) => migration.name === name));
  const refused = unknown.filter(({ worksWith }) => worksWith === null || compareReleases(RELEASE, worksWith) < 0);
  if (refused.length > 0) {
    const names = refused.map(({ name }) => name).join(", ");
    throw new SchemaTooNew(
      `the database was migrated by a newer release (${names}); start that release, or restore a backup`,
    );
  }
  return known.filter((migration) => !done.some(({ name }) => name === migration.name));
}

/** Negative if the first release is older, 0 if they are the same. */
function compareReleases(one: string, other: string): number {
  const [a, b] = [one, other].map((release) => release.split(".").map(Number));
  const at = (a ?? []).findIndex((part, index) => part !== b?.[index]);
  return at === -1 ? 0 : (a?.[at] ?? 0) - (b?.[at] ?? 0);
}
