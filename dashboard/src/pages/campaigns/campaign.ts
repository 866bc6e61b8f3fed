import { t } from "../../i18n/t.ts";
/** A campaign as the API returns it: all messages that were sent under one name. */
export interface Campaign {
  id: string;
  name: string;
  status: "running" | "paused" | "cancelled";
  pausedAt: number | null;
  createdAt: number;
  counts: Readonly<Record<string, number>>;
  states: Readonly<Record<string, number>>;
}

export const CAMPAIGNS = "/api/campaigns";

export const totalOf = ({ counts }: Campaign): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const stateSum = ({ states }: Campaign, ...names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (states[name] ?? 0), 0);

/**
 * The state that is shown. The API has "running" for every campaign that is neither paused nor cancelled, also when none of its
 * messages waits.
 */
export function stageOf({ status, counts, states }: Campaign): Campaign["status"] | "finished" | "scheduled" {
  if (status !== "running") return status;
  const pending = counts.Pending ?? 0;
  if (pending === 0) return "finished";
  return states.scheduled === pending ? "scheduled" : status;
}

/** Messages that were cancelled, which the API counts as failed. */
export const cancelledOf = ({ states }: Campaign): number => states.cancelled ?? 0;

/** Delivery funnel from accepted to read. Each count includes the counts of all later steps. */
export function funnelOf(campaign: Campaign): { name: string; count: number; color: string }[] {
  const read = stateSum(campaign, "read");
  const delivered = read + stateSum(campaign, "delivered");
  const failedLater = stateSum(campaign, "undelivered", "expired", "unknown");
  const sent = delivered + failedLater + stateSum(campaign, "submitted", "enroute");
  return [
    { name: t("Accepted"), count: totalOf(campaign), color: "sun" },
    { name: t("Sent"), count: sent, color: "blue" },
    { name: t("Delivered"), count: delivered, color: "green" },
    ...(read > 0 ? [{ name: t("Read"), count: read, color: "violet" }] : []),
  ];
}
