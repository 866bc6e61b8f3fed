import type { Parts } from "../../parts/record/field.ts";
import { KeyFileInput } from "./key-file-input.tsx";
import { lanesInput } from "./lanes-input.tsx";
import { advanced, flag, number, own, secret } from "./line-fields.ts";
import { RBM_STARTS } from "./line-starts.ts";

const TTL_MAX_SECONDS = 2_592_000;

/** What a line to RCS for Business is asked for: a key and a word, and what hardly anybody changes below. */
export const RBM_PARTS: Parts = {
  starts: RBM_STARTS,
  fields: [
    {
      ...own(
        "serviceAccount",
        "Service account key",
        "The JSON file from the console of RCS for Business, pasted or chosen. Sealed, and never shown.",
        KeyFileInput,
      ),
      secret: true,
    },
    secret("clientToken", "Client token", "A long random word, which you enter beside the callback address too."),
    ...[
      {
        name: "baseUrl",
        label: "Base URL",
        hint: "Where messages go; a region has an address of its own. With another one, give the key again.",
        input: { kind: "text", type: "url" },
        required: true,
      } as const,
      {
        name: "tokenUrl",
        label: "Token URL",
        hint: "Where the key opens the line.",
        input: { kind: "text", type: "url", placeholder: "The one in the key" },
      } as const,
      flag("capabilityCheck", "Ask first whether a phone is reached", "So that the text in its place can go at once."),
      number("capabilityHours", "The answer counts for", "Yes or no.", 1, 720, "hours"),
      own(
        "ttlSeconds",
        "The platform tries for",
        "Seconds by the type of a message, at most; never longer than it is valid.",
        lanesInput({ name: "ttlSeconds", min: 1, max: TTL_MAX_SECONDS }),
      ),
      flag("trafficTypes", "Tell what a message is for", "Authentication, transaction or promotion."),
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
