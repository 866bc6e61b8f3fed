import type { Parts } from "../../parts/record/field.ts";
import { AuthenticationInput } from "./authentication-input.tsx";
import { advanced, flag, number, own, secret } from "./line-fields.ts";
import { WHATSAPP_STARTS } from "./line-starts.ts";

/** What a line to WhatsApp is asked for: what everybody has to look up first, and what only other sellers need below. */
export const WHATSAPP_PARTS: Parts = {
  starts: WHATSAPP_STARTS,
  fields: [
    secret("token", "Access token", "Of a system user, so that it does not end."),
    secret("appSecret", "App secret", "From App settings › Basic. Without it no report and no answer is taken."),
    secret("verifyToken", "Verify token", "A word of your own, which you enter beside the callback address."),
    {
      name: "phoneNumberId",
      label: "Phone number id",
      hint: "From WhatsApp › API setup; not the number itself. It counts for every number whose own record has none.",
      input: { kind: "text", placeholder: "106540352242922" },
    },
    {
      name: "businessAccountId",
      label: "Business account id",
      hint: "From WhatsApp › API setup. With it the templates of the account are kept in step.",
      input: { kind: "text", placeholder: "102290129340398" },
    },
    ...[
      {
        name: "baseUrl",
        label: "Base URL",
        hint: "Where the API is. With another one, give the token again.",
        input: { kind: "text", type: "url" },
        required: true,
      } as const,
      {
        name: "version",
        label: "Version",
        hint: "Of the API, as it stands in the path.",
        input: { kind: "text", placeholder: "None" },
      } as const,
      flag(
        "phoneNumberInPath",
        "Phone number id in the path",
        "Off for sellers who tell numbers apart by their tokens.",
      ),
      own("authentication", "Authentication", "How requests show who we are.", AuthenticationInput),
      number("connections", "Requests at once", "On each node.", 1, 500),
      number(
        "responseSeconds",
        "An answer is waited for",
        "What has not come by then does not come.",
        1,
        120,
        "seconds",
      ),
    ].map(advanced),
  ],
};
