import Bars from "../../parts/charts/bars.tsx";
import { groupsOf } from "./times.ts";

/** How many codes were used within which time. */
export default function TimesChart({ times }: { times: readonly number[] }) {
  return (
    <Bars
      label="Codes by the time until they were used"
      data={groupsOf(times)}
      series={[{ key: "count", name: "Codes", color: "sun" }]}
    />
  );
}
