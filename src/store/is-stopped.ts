import { laneOf } from "./rows.ts";

/**
 * True if an opt-out of the recipient (for promotions) or a paused or cancelled campaign stops the message. Each subquery is a
 * scalar lookup by the whole key: PostgreSQL might otherwise hash all opt-outs.
 */
export const isStopped = (statusOf: (content: string) => string): string => `(
  (messages.lane = ${laneOf("PROMO")} and case messages.test when 0
    then (select 1 from optouts
      where optouts.account_id = messages.account_id and optouts.number = messages.recipient)
    else (select 1 from test_optouts
      where test_optouts.account_id = messages.account_id and test_optouts.number = messages.recipient) end is not null)
  or (messages.campaign_name is not null and coalesce((select case when ${statusOf("catalog.content")} in ('paused', 'cancelled') then 1 else 0 end
    from catalog where catalog.account_id = messages.account_id and catalog.kind = 'campaign'
      and catalog.name = messages.campaign_name), 0) = 1))`;
