import { verifyConfig } from "../../catalog/kinds/verify-config.ts";
import { verifyConfigs } from "../../catalog/shelves.ts";
import { DEFAULT_VERIFY_CONFIG } from "../../model/verify-config.ts";
import type { Telling } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

/** How one-time passwords are made, brought and tried. */
const verifyConfigTelling: Telling = {
  shelf: verifyConfigs,
  group: "Verification",
  about:
    "How one-time passwords are made, brought to phones and tried. On real carriers a request must name one of these; on the simulator any is learned, with what usually holds.",
  kinds: [
    {
      kind: verifyConfig,
      title: "VerifyConfig",
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
  changeExamples: { "longer codes": { length: 8 } },
};

export const verifyConfigRoutes = recordRoutes(verifyConfigTelling);
