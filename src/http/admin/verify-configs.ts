import { verifyConfig } from "../../records/types/verify-config.ts";
import { verifyConfigs } from "../../records/record-types.ts";
import { DEFAULT_VERIFY_CONFIG } from "../../model/verify-config.ts";
import { Type } from "../../lib/schema.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const verifyConfigDocs: RecordDocs = {
  type: verifyConfigs,
  group: "Verification",
  about:
    "Settings for one-time passwords: code, channels and limits. On real carriers a request must name a stored configuration; on the simulator new ones are learned with default settings.",
  definitions: [
    {
      definition: verifyConfig,
      title: "VerifyConfig",
      responseFields: {
        twilioSid: Type.String({ description: "The sid of this service in the Twilio API (Verify v2)." }),
      },
      example: { name: "default", content: DEFAULT_VERIFY_CONFIG },
    },
  ],
  createExamples: {
    "sign-in": { name: "sign-in", text: "{code} is your code for Example.", webOtpDomain: "example.com" },
    "chat app first": {
      name: "app-login",
      channels: [
        { channel: "chatapp", from: "+15550100199", template: "sign_in_code", waitSeconds: 20 },
        { channel: "sms", from: "HELIOG" },
      ],
    },
  },
  updateExamples: { "longer codes": { length: 8 } },
};

export const verifyConfigRoutes = recordRoutes(verifyConfigDocs);
