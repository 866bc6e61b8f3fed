import { t } from "../../i18n/t.ts";
import type { Verification } from "./verification.ts";

/** Times from sending to verifying, in milliseconds, shortest first. */
export const timesToVerify = (verifications: readonly Verification[]): number[] =>
  verifications
    .flatMap(({ state, createdAt, doneAt }) => (state === "verified" && doneAt !== null ? [doneAt - createdAt] : []))
    .toSorted((a, b) => a - b);

export const medianOf = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? 0;

const EDGES_SECONDS = [5, 10, 20, 30, 60, 120, 300];

/** The times in buckets with round limits. */
export function groupsOf(times: readonly number[]): { name: string; count: number }[] {
  const groups = EDGES_SECONDS.map((edge, index) => {
    const from = EDGES_SECONDS[index - 1] ?? 0;
    const within = times.filter((ms) => ms >= from * 1000 && ms < edge * 1000);
    return {
      name:
        edge < 120
          ? t("{number} s", { number: `${from}–${edge}` })
          : t("{number} min", { number: `${from / 60}–${edge / 60}` }),
      count: within.length,
    };
  });
  const last = EDGES_SECONDS.at(-1) ?? 0;
  return [
    ...groups,
    { name: t("over {minutes} min", { minutes: last / 60 }), count: times.filter((ms) => ms >= last * 1000).length },
  ];
}
