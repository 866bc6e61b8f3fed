import type { AudienceRecipient } from "../model/audience.ts";
import type { SkippedRow } from "../model/campaign.ts";
import { prepareCurrent } from "../pipeline/accept/prepare-current.ts";
import type { Prepared, PrepareDeps } from "../pipeline/accept/prepare.ts";
import { skipCodeOf, type CampaignRequests, type Sending } from "./requests.ts";

interface PreparedBatch {
  /** Null if no recipient is left. */
  prepared: Prepared | null;
  skipped: readonly SkippedRow[];
}

/** Prepares a request to the recipients whose values fit: the others must not stop it. */
export async function prepareFitting(
  prepareDeps: PrepareDeps,
  sending: Sending,
  requests: CampaignRequests,
  rows: readonly AudienceRecipient[],
): Promise<PreparedBatch> {
  const { fit, skipped } = requests.select(rows);
  const deps = { ...prepareDeps, media: mediaFor(prepareDeps, sending, requests) };
  const { prepared, unfit } = await prepareEach(deps, sending, requests, fit);
  return { prepared, skipped: [...skipped, ...unfit].toSorted((a, b) => a.row - b.row) };
}

/**
 * A preview and the start look at a file that all recipients share. The feed looks at none: slow hosts would hold up the
 * campaigns of other accounts, and the check before sending looks at each file.
 */
const mediaFor = ({ media }: PrepareDeps, { dryRun }: Sending, requests: CampaignRequests): PrepareDeps["media"] => ({
  ...media,
  probeWithin: (link, kind, waitMs) =>
    dryRun && requests.isShared(link) ? media.probeWithin(link, kind, waitMs) : Promise.resolve({ kind: "unknown" }),
});

async function prepareEach(
  deps: PrepareDeps,
  sending: Sending,
  requests: CampaignRequests,
  rows: readonly AudienceRecipient[],
): Promise<{ prepared: Prepared | null; unfit: readonly SkippedRow[] }> {
  const prepare = (some: readonly AudienceRecipient[], dryRun: boolean): Promise<Prepared> =>
    prepareCurrent(deps, () => requests.prepare(deps, { ...sending, dryRun }, some));
  if (rows.length === 0) return { prepared: null, unfit: [] };
  try {
    return { prepared: await prepare(rows, sending.dryRun), unfit: [] };
  } catch (error) {
    if (skipCodeOf(error, requests) === null) throw error;
  }
  const left: AudienceRecipient[] = [];
  const unfit: SkippedRow[] = [];
  for (const recipient of rows) {
    try {
      await prepare([recipient], true);
      left.push(recipient);
    } catch (error) {
      const code = skipCodeOf(error, requests);
      if (code === null) throw error;
      unfit.push({ row: recipient.row, code });
    }
  }
  return { prepared: left.length === 0 ? null : await prepare(left, sending.dryRun), unfit };
}
