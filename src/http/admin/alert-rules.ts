import { alertRules } from "../../records/record-types.ts";
import { alertRule } from "../../records/types/alert-rule.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const alertRuleDocs: RecordDocs = {
  type: alertRules,
  group: "Alerts",
  about:
    "Rules of alerts: a fault with its threshold. Until an account has a rule of its own for a fault, the usual rule applies; `GET /api/alerts/rules` lists all that apply. Several rules may watch the same fault with different thresholds.",
  definitions: [
    {
      definition: alertRule,
      title: "AlertRule",
      example: {
        name: "Deliveries drop",
        content: { alert: "delivery_rate", threshold: 85, windowMinutes: 30, minimum: 200, enabled: true },
      },
    },
  ],
  createExamples: {
    "low delivery rate": {
      name: "Deliveries drop",
      alert: "delivery_rate",
      threshold: 85,
      windowMinutes: 30,
      minimum: 200,
    },
    "switch off": { name: "No queue alert", alert: "queue_age", enabled: false },
  },
  updateExamples: { threshold: { threshold: 90 } },
};

export const alertRuleRoutes = recordRoutes(alertRuleDocs);
