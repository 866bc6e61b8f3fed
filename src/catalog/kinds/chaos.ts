import { Type, type Schema } from "../../lib/schema.ts";
import { CALM, type Chaos } from "../../model/phone.ts";

const percent = (description: string): Schema => Type.Number({ minimum: 0, maximum: 100, description });

/** How a simulated line misbehaves, as people give it. */
export const chaosFields: Readonly<Record<keyof Chaos, Schema>> = {
  deliveredPercent: percent("How many messages reach the phone; the others fail."),
  delayMs: Type.Integer({ minimum: 0, maximum: 3_600_000, description: "Time until the delivery report." }),
  duplicatePercent: percent("How many have every report twice."),
  reorderPercent: percent("How many have their reports in the wrong order."),
  throttledPercent: percent("How many tries are turned away for now."),
  lostAnswerPercent: percent("How many are taken without the sender learning it."),
  refusedPercent: percent("How many the carrier refuses for reasons of its own, so that the next route is tried."),
  down: Type.Boolean({ description: "Whether the carrier cannot be reached at all." }),
};

/** Fields that are no part of chaos are ignored, not stored. */
export const pickChaos = (given: Partial<Chaos>): Partial<Chaos> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(CALM, name)));
