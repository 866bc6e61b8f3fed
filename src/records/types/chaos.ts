import { Type, type SchemasOf, type Typed } from "../../lib/schema.ts";
import type { Chaos } from "../../model/phone.ts";

const percent = (description: string): Typed<number> => Type.Number({ minimum: 0, maximum: 100, description });

/** Chaos settings in requests. */
export const chaosFields = {
  deliveredPercent: percent("Percentage of messages that reach the phone; the others fail."),
  delayMs: Type.Integer({ minimum: 0, maximum: 3_600_000, description: "Delay of the delivery report." }),
  duplicatePercent: percent("Percentage of messages with duplicated reports."),
  reorderPercent: percent("Percentage of messages with reports in the wrong order."),
  throttledPercent: percent("Percentage of submits that are throttled."),
  lostAnswerPercent: percent("Percentage of submits whose response is lost."),
  refusedPercent: percent(
    "Percentage of submits that the carrier refuses for its own reasons, so that the next route is tried.",
  ),
  down: Type.Boolean({ description: "True simulates an outage: the carrier is unreachable." }),
} satisfies SchemasOf<Chaos>;
