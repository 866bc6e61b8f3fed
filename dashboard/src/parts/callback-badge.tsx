import type { Callback } from "../api-types.ts";
import { t } from "../i18n/t.ts";
import { StatusBadge } from "./status-badge.tsx";

/** A single failed attempt is common and no reason for concern. */
const FAILING_FROM = 2;

/** The state of a callback. A pending one with failed attempts differs from a new one. */
export function CallbackBadge({ state, tries, lastAttempt }: Pick<Callback, "state" | "tries" | "lastAttempt">) {
  const hasFailed = state === "waiting" && tries > 0 && (lastAttempt?.reason ?? null) !== null;
  if (!hasFailed) return <StatusBadge status={state} />;
  return tries >= FAILING_FROM ? (
    <StatusBadge status="failing" word={t("Failing, retrying")} />
  ) : (
    <StatusBadge status="retrying" />
  );
}
