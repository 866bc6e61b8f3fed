import type { SendWindow } from "../model/campaign.ts";
import type { Prepared } from "../pipeline/accept/prepare.ts";
import { quietUntil } from "../pipeline/policy/quiet-hours.ts";
import { zonesOf } from "../pipeline/policy/zones.ts";

/**
 * Holds the messages of recipients for whom a window of their own time is closed until it opens there. A number of several time
 * zones waits until it is open in all of them.
 */
export function holdByLocalWindow(prepared: Prepared, { from, to }: SendWindow, now: number): Prepared {
  const closed = { from: to, to: from };
  const { recipients } = prepared.subject.draft;
  const verdicts = prepared.verdicts.map((verdict, place) => {
    const number = recipients[place]?.number;
    if (number === undefined || verdict.failure !== null) return verdict;
    const until = quietUntil(closed, zonesOf(number), verdict.heldUntil ?? now);
    if (until === null) return verdict;
    const detail = `${from} to ${to} where the recipient is`;
    const decision = { policy: "send window", verdict: "held", detail, until } as const;
    return { ...verdict, heldUntil: until, decisions: [...verdict.decisions, decision] };
  });
  return { ...prepared, verdicts };
}
