import { STATES } from "../../model/message.ts";
import type { Query } from "./pool.ts";

const COLUMNS = "account_id, campaign_name, state, count";

/** Counts new or deleted messages of campaigns, as part of the statement that writes them: one row for each campaign and state. */
export const countingRows = (rows: string, sign: 1 | -1): string => `
  counted as (
    insert into campaign_count_changes (${COLUMNS})
    select account_id, campaign_name, state, ${sign} * count(*) from ${rows} where campaign_name is not null
    group by account_id, campaign_name, state
  )`;

/** The same for messages that change from one state to another. */
export const countingMoves = (moved: string, from: string, to: string): string => `
  counted as (
    insert into campaign_count_changes (${COLUMNS})
    select account_id, campaign_name, change.state, sum(change.count)
    from ${moved} cross join lateral (values (${from}, -1), (${to}, 1)) as change (state, count)
    where campaign_name is not null group by account_id, campaign_name, change.state having sum(change.count) <> 0
  )`;

/** The place of a state in `STATES`, so that a number can carry it; and the state at a place. */
export const placeOfState = (state: string): string => `array_position(${STATE_LIST}, ${state})`;
export const stateAt = (place: string): string => `(${STATE_LIST})[${place}]`;
const STATE_LIST = `'{${STATES.join(",")}}'::text[]`;

const FOLD_AT_MOST = 10_000;

/** `skip locked` lets several nodes fold at once. The sorted insert locks the counts in the same order on every node. */
const FOLD = `
  with picked as (select ctid from campaign_count_changes limit ${FOLD_AT_MOST} for update skip locked),
  folded as (delete from campaign_count_changes where ctid = any (array (select ctid from picked)) returning ${COLUMNS})
  insert into campaign_counts (${COLUMNS})
  select account_id, campaign_name, state, sum(count) from folded group by account_id, campaign_name, state
  order by account_id, campaign_name, state
  on conflict (account_id, campaign_name, state) do update set count = campaign_counts.count + excluded.count`;

/** Adds the changes up. The sum of both tables is exact at any time, so this only keeps reads short. */
export async function foldCampaignCounts(query: Query): Promise<void> {
  await query({ name: "fold campaign counts", text: FOLD });
}
