import { verifyRule } from "../../records/types/verify-rule.ts";
import { verifyRules } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const verifyRuleDocs: RecordDocs = {
  type: verifyRules,
  group: "Verification",
  about:
    "Decisions about one-time passwords to a prefix or a country: block them, or exempt them from the protection against SMS pumping. The rule of the longest prefix applies, otherwise that of the country. Rules also apply on the simulator. Automatic blocks are at `/api/verify-blocks`.",
  definitions: [
    {
      definition: verifyRule,
      title: "VerifyRule",
      example: { name: "99890", content: { action: "block", note: "Pumping in March" } },
    },
  ],
  createExamples: {
    "block a prefix": { name: "99890", action: "block", note: "Pumping in March" },
    "block a country": { name: "UZ", action: "block" },
    "allow a prefix": { name: "4915", action: "allow", note: "Our own staff" },
  },
  updateExamples: { "allow it": { action: "allow" } },
};

export const verifyRuleRoutes = recordRoutes(verifyRuleDocs);
