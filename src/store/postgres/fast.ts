import { FREE, TAKEN } from "../charge.ts";
import type { State } from "../../model/message.ts";
import { contentAtEnd, isAbout, ON_ID_USED_AGAIN, storedReceiptOf, TIMELINE_MAX, type UnmatchedRow } from "../rows.ts";
import { UNOWNED, type StoredReceipt } from "../store.ts";
import {
  expectedSourcesOf,
  isExpectingDelivery,
  isExpectingSubmit,
  PRECEDING,
  predictedResult,
  type ExpectingDelivery,
  type ExpectingSubmit,
  type Transition,
  type TransitionResult,
} from "../transition.ts";
import {
  storeCallbacks,
  COUNT_CALLBACKS,
  followsOf,
  targetColumns,
  targetRows,
  CALLBACK_FACTS,
} from "./transition-callbacks.ts";
import { countingMoves } from "./campaign-counts.ts";
import { columns } from "./columns.ts";
import { isRowFault } from "./faults.ts";
import type { Query, Statement } from "./pool.ts";
import { inOrderOfRows, IS_MESSAGE } from "./steps.ts";

/**
 * Optimistic fast paths of the PostgreSQL engine for batches of one kind. They touch three tables; the general statement
 * touches seven. `kind` and `expected` alone decide which batch qualifies. If one row is not as expected, nothing is written
 * and the general statement takes the batch.
 */
type FastSubmit = ExpectingSubmit & { partIds?: undefined; failoverAt?: undefined };

/** The statement writes neither ids of parts nor a failover nor another content. */
const isFastSubmit = (transition: Transition): transition is FastSubmit =>
  isExpectingSubmit(transition) &&
  transition.partIds === undefined &&
  transition.failoverAt === undefined &&
  transition.becomes === undefined;

/** Returns null if the batch does not qualify, or if one of its rows was not as expected. */
export async function applyFast(query: Query, batch: readonly Transition[]): Promise<TransitionResult[] | null> {
  try {
    if (batch.every(isFastSubmit)) return await submit(query, batch);
    if (batch.every(isExpectingDelivery)) return await deliver(query, batch);
    return null;
  } catch (error) {
    if (isRowFault(error)) return null;
    throw error;
  }
}

/**
 * Hides the states from the planner, so that it uses the primary key. Planned on empty tables, the statement would search the
 * index of waiting rows and keep that plan.
 */
const isAnyOf = (states: readonly State[]): string =>
  `(${states.map((state) => `messages.state || '' = '${state}'`).join(" or ")})`;

/** Returns one row if every step was written. Otherwise it raises division_by_zero, which rolls the batch back. */
const ALL_OF_THEM = (changed: string): string => `(
    select 1 / (case when (select count(*) from ${changed}) = (select count(*) from step) then 1 else 0 end) as all_of_them
  ) as judged where all_of_them = 1`;

const isOfCampaign = ({ expected }: FastSubmit | ExpectingDelivery): boolean => expected.campaignName !== null;

/** Only the statements of campaigns count messages, so that all others pay nothing for the counts. */
const isOf = (campaigns: boolean): string => (campaigns ? "" : " and messages.campaign_name is null");
const campaignOf = (campaigns: boolean): string => (campaigns ? ", messages.campaign_name" : "");

const SHARED = {
  account_id: "integer",
  request_id: "uuid",
  n: "integer",
  channel: "text",
  owner: "integer",
  at: "bigint",
  carrier: "text",
  trail: "text",
} as const;

const sharedRow = (transition: FastSubmit | ExpectingDelivery) => ({
  account_id: transition.accountId,
  request_id: transition.requestId,
  n: transition.n,
  channel: transition.expected.channel,
  owner: transition.owner,
  at: transition.at,
  carrier: transition.carrier,
  trail: transition.timeline ?? "",
});

const SUBMITTED = columns({ ...SHARED, carrier_message_id: "text" });

const submitWith = (ofCampaigns: boolean): string => `
  with step as materialized (select * from ${SUBMITTED.rows}),
  taken as (
    update messages set state = 'submitted', owner = step.owner, carrier = step.carrier, error_code = null, description = null,
      submitted_at = greatest(step.at, messages.created_at), trail = messages.trail || step.trail, charge_change = ${TAKEN}
    from step
    where ${IS_MESSAGE} and messages.channel = step.channel and messages.carrier = step.carrier and ${isAnyOf(expectedSourcesOf("submitted"))} and messages.submitted_at is null
      and messages.charge = ${FREE} and octet_length(messages.trail) < ${TIMELINE_MAX}${isOf(ofCampaigns)}
    returning step.place, step.carrier, step.carrier_message_id, messages.account_id, messages.request_id, messages.n${campaignOf(ofCampaigns)}
  ),${ofCampaigns ? `${countingMoves("taken", `'${PRECEDING.submitted}'`, "'submitted'")},` : ""}
  submitted as (
    insert into submissions (carrier, carrier_message_id, account_id, request_id, n)
    select distinct on (carrier, carrier_message_id) carrier, carrier_message_id, account_id, request_id, n
    from taken order by carrier, carrier_message_id, place desc
    ${ON_ID_USED_AGAIN}
  )
  select taken.place, id, parked_receipts.carrier, parked_receipts.carrier_message_id, channel, state, error_code, description, at,
    operator, circle
  from taken cross join lateral (
    select * from parked_receipts as early where early.carrier = taken.carrier
      and early.carrier_message_id = taken.carrier_message_id offset 0) as parked_receipts
  where ${isAbout("parked_receipts.recipient", "taken")}
  union all
  select null, null, null, null, null, null, null, null, null, null, null from ${ALL_OF_THEM("taken")}
  order by id`;

const SUBMIT = submitWith(false);
const SUBMIT_OF_CAMPAIGNS = submitWith(true);

async function submit(query: Query, batch: readonly FastSubmit[]): Promise<TransitionResult[]> {
  const sorted = inOrderOfRows(batch.map((item, place) => ({ item, place })));
  const values = SUBMITTED.values(
    sorted.map(({ item }) => ({ ...sharedRow(item), carrier_message_id: item.carrierMessageId })),
  );
  const { rows } = await query<({ place: number } & UnmatchedRow) | { id: null }>(
    batch.some(isOfCampaign)
      ? { name: "take campaigns", text: SUBMIT_OF_CAMPAIGNS, values }
      : { name: "take", text: SUBMIT, values },
  );
  const unmatched = batch.map((): StoredReceipt[] => []);
  for (const row of rows) if (row.id !== null) unmatched[sorted[row.place - 1]?.place ?? 0]?.push(storedReceiptOf(row));
  return batch.map((transition, place) => ({ ...predictedResult(transition), unmatched: unmatched[place] ?? [] }));
}

const DELIVERED = columns({ ...SHARED, error_code: "text", description: "text" });

const TARGETS = targetColumns(DELIVERED.next);

const deliverWith = (targets: string | null, ofCampaigns: boolean): string => `
  with step as materialized (select * from ${DELIVERED.rows}),
  moved as (
    update messages set state = 'delivered', owner = step.owner, carrier = step.carrier, error_code = step.error_code,
      description = step.description, done_at = greatest(step.at, messages.submitted_at), content = ${contentAtEnd("messages.content")},
      trail = messages.trail || step.trail, charge_change = 0${targets === null ? "" : `, ${COUNT_CALLBACKS}`}
    from step
    where ${IS_MESSAGE} and messages.channel = step.channel and ${isAnyOf(expectedSourcesOf("delivered"))} and messages.submitted_at is not null
      and messages.asked_channel is null and messages.operator is null and messages.circle is null and messages.charge = ${FREE}
      and octet_length(messages.trail) < ${TIMELINE_MAX}${isOf(ofCampaigns)}
    returning step.place, greatest(step.at, messages.submitted_at) as at, messages.account_id, messages.request_id, messages.n, messages.credits,
      messages.channel as via, ${CALLBACK_FACTS}${campaignOf(ofCampaigns)}
  ),${ofCampaigns ? `${countingMoves("moved", `'${PRECEDING.delivered}'`, "'delivered'")},` : ""}${targets === null ? "" : storeCallbacks(targets)}
  unplanned as (
    delete from failovers using step where failovers.account_id = step.account_id and failovers.request_id = step.request_id
      and failovers.n = step.n
  )
  ${targets === null ? "" : `select event_id, endpoint_id, follows from new_callbacks where owner <> ${UNOWNED} union all`}
  select null, null, null from ${ALL_OF_THEM("moved")}`;

interface CallbackOrderRow {
  event_id: string | null;
  endpoint_id: string | null;
  follows: string | null;
}

const DELIVER = {
  deliver: deliverWith(null, false),
  "deliver with callbacks": deliverWith(TARGETS.rows, false),
  "deliver campaigns": deliverWith(null, true),
  "deliver campaigns with callbacks": deliverWith(TARGETS.rows, true),
};

async function deliver(query: Query, batch: readonly ExpectingDelivery[]): Promise<TransitionResult[]> {
  const { rows } = await query<CallbackOrderRow>(deliverStatement(batch));
  const stored = new Map(rows.map((row) => [`${row.event_id} ${row.endpoint_id}`, row.follows]));
  return batch.map((transition) => {
    const predicted = predictedResult(transition);
    return {
      ...predicted,
      callbacks: predicted.callbacks.flatMap((callback) => {
        const follows = stored.get(`${callback.eventId} ${callback.endpointId}`);
        return follows === undefined ? [] : [{ ...callback, ...followsOf(follows) }];
      }),
    };
  });
}

function deliverStatement(batch: readonly ExpectingDelivery[]): Statement {
  const sorted = inOrderOfRows(batch.map((item, place) => ({ item, place }))).map(({ item }) => item);
  const values = DELIVERED.values(
    sorted.map((item) => ({ ...sharedRow(item), error_code: item.errorCode, description: item.description })),
  );
  const targets = targetRows(sorted);
  if (targets.length > 0) values.push(...TARGETS.values(targets));
  const name =
    `deliver${sorted.some(isOfCampaign) ? " campaigns" : ""}${targets.length > 0 ? " with callbacks" : ""}` as const;
  return { name, text: DELIVER[name], values };
}
