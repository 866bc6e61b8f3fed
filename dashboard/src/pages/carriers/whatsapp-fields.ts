import { t } from "../../i18n/t.ts";
import type { Parts } from "../../parts/record/field.ts";
import { AuthenticationInput } from "./authentication-input.tsx";
import { advanced, flag, number, own, secret } from "./line-fields.ts";
import { WHATSAPP_STARTS } from "./line-starts.ts";

/** Settings of a WhatsApp connection: required ones first, those of other Cloud API resellers below. */
export const WHATSAPP_PARTS: Parts = {
  starts: WHATSAPP_STARTS,
  fields: [
    secret("token", t("Access token"), t("Use a system user's token: it does not expire.")),
    secret(
      "appSecret",
      t("App secret"),
      t("From App settings › Basic. Required to accept delivery reports and incoming messages."),
    ),
    secret("verifyToken", t("Verify token"), t("A string of your choice. Enter the same one beside the callback URL.")),
    {
      name: "phoneNumberId",
      label: t("Phone number ID"),
      hint: t("From WhatsApp › API setup; not the number itself. Default for numbers without one of their own."),
      input: { kind: "text", placeholder: "106540352242922" },
    },
    {
      name: "businessAccountId",
      label: t("Business account ID"),
      hint: t("From WhatsApp › API setup. Needed for template sync."),
      input: { kind: "text", placeholder: "102290129340398" },
    },
    ...[
      {
        name: "baseUrl",
        label: t("Base URL"),
        hint: t("API host. If you change it, enter the token again."),
        input: { kind: "text", type: "url" },
        required: true,
      } as const,
      {
        name: "version",
        label: t("Version"),
        hint: t("API version in the path."),
        input: { kind: "text", placeholder: t("None") },
      } as const,
      flag(
        "phoneNumberInPath",
        t("Phone number ID in the path"),
        t("Turn off for providers that use one token per number."),
      ),
      own("authentication", t("Authentication"), t("How requests authenticate."), AuthenticationInput),
      number("connections", t("Concurrent requests"), t("Per node."), 1, 500),
      number("responseSeconds", t("Response timeout"), t("Later responses are ignored."), 1, 120, t("seconds")),
    ].map(advanced),
  ],
};
