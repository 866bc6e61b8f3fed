import { t } from "../../i18n/t.ts";
import Bars from "../../parts/charts/bars.tsx";
import { groupsOf } from "./times.ts";

/** How many codes were used within which time. */
export default function TimesChart({ times }: { times: readonly number[] }) {
  return (
    <Bars
      label={t("Codes by time to verify")}
      data={groupsOf(times)}
      series={[{ key: "count", name: t("Codes"), color: "sun" }]}
    />
  );
}
