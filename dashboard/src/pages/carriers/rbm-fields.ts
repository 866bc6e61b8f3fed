import { t } from "../../i18n/t.ts";
import type { Parts } from "../../parts/record/field.ts";
import { KeyFileInput } from "./key-file-input.tsx";
import { lanesInput } from "./lanes-input.tsx";
import { advanced, flag, number, own, secret } from "./line-fields.ts";
import { RBM_STARTS } from "./line-starts.ts";

const TTL_MAX_SECONDS = 2_592_000;

/** Settings of an RCS for Business connection: key file and callback token first, rarely changed settings below. */
export const RBM_PARTS: Parts = {
  starts: RBM_STARTS,
  fields: [
    {
      ...own(
        "serviceAccount",
        t("Service account key"),
        t("The JSON file from the RCS for Business console, pasted or uploaded. Stored encrypted; never displayed."),
        KeyFileInput,
      ),
      secret: true,
    },
    secret("clientToken", t("Client token"), t("A long random string. Enter the same one beside the callback URL.")),
    ...[
      {
        name: "baseUrl",
        label: t("Base URL"),
        hint: t("API host; each region has its own. If you change it, enter the key again."),
        input: { kind: "text", type: "url" },
        required: true,
      } as const,
      {
        name: "tokenUrl",
        label: t("Token URL"),
        hint: t("URL that issues access tokens."),
        input: { kind: "text", type: "url", placeholder: t("The URL in the key") },
      } as const,
      flag("capabilityCheck", t("Check RCS capability first"), t("The SMS fallback can then be sent at once.")),
      number(
        "capabilityHours",
        t("Cache the result for"),
        t("Both positive and negative results."),
        1,
        720,
        t("hours"),
      ),
      own(
        "ttlSeconds",
        t("Delivery attempts last"),
        t("Maximum seconds per message type; never beyond the message's validity."),
        lanesInput({ name: "ttlSeconds", min: 1, max: TTL_MAX_SECONDS }),
      ),
      flag("trafficTypes", t("Send the message purpose"), t("Authentication, transaction or promotion.")),
      flag(
        "uploadFiles",
        t("Keep files at the platform"),
        t("Each image of a card is fetched once, not once per message."),
      ),
      number("connections", t("Concurrent requests"), t("Per node."), 1, 500),
      number("responseSeconds", t("Response timeout"), t("Later responses are ignored."), 1, 120, t("seconds")),
    ].map(advanced),
  ],
};
