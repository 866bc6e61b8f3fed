import { t } from "../../i18n/t.ts";
import { Bars } from "../../parts/charts/bars.tsx";
import { groupsOf } from "./times.ts";

/** Histogram of the time between sending and verifying a code. */
export function TimesChart({ times }: { times: readonly number[] }) {
  return (
    <Bars
      label={t("Codes by time to verify")}
      data={groupsOf(times)}
      series={[{ key: "count", name: t("Codes"), color: "sun" }]}
    />
  );
}
