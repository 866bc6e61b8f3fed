import { nullable, Type } from "../../lib/schema.ts";
import { ALERT_KINDS, ALERTS, USUAL_MINIMUM, USUAL_WINDOW_MINUTES } from "../../model/alert.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { oneOf } from "./shared-fields.ts";

const thresholds = ALERT_KINDS.map((kind) => {
  const { threshold } = ALERTS[kind];
  return threshold ? `${kind}: ${threshold.unit} (${threshold.usual})` : `${kind}: none`;
}).join("; ");

export const alertRule = defineRecord({
  kind: "alertRule",
  name: plainName("Name for your reference, shown with its alerts."),
  fields: {
    alert: oneOf(
      ALERT_KINDS,
      "The watched fault. A rule replaces the usual rule of the same `alert`; a disabled one switches it off.",
    ),
    threshold: Type.Default(
      nullable(
        Type.Integer({ minimum: 0 }),
        `Threshold in the unit of \`alert\`. Null (default) is the usual one, here in brackets. ${thresholds}.`,
      ),
      null,
    ),
    windowMinutes: Type.Default(
      Type.Integer({
        minimum: 5,
        maximum: 1440,
        description: `Minutes that delivery_rate and otp_conversion count. Defaults to ${USUAL_WINDOW_MINUTES}.`,
      }),
      USUAL_WINDOW_MINUTES,
    ),
    minimum: Type.Default(
      Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        description: `Smallest number of messages or codes in the window. Below it, rates are not judged. Defaults to ${USUAL_MINIMUM}.`,
      }),
      USUAL_MINIMUM,
    ),
    enabled: Type.Default(Type.Boolean({ description: "False switches the rule off. Defaults to true." }), true),
  },
  dependsOn: { threshold: ["alert"] },
  read: ({ fields: { alert, threshold, windowMinutes, minimum, enabled }, faults }) => {
    const limits = ALERTS[alert].threshold;
    if (threshold !== null) {
      const fault = (message: string): void => void faults.push({ parameter: "threshold", message });
      if (!limits) fault(`threshold must be null: ${alert} has none.`);
      else if (threshold < limits.min || threshold > limits.max)
        fault(`threshold of ${alert} must be ${limits.min} to ${limits.max} ${limits.unit}.`);
    }
    return { alert, threshold, windowMinutes, minimum, enabled };
  },
});
