import { readNetwork } from "../lib/network.ts";
import { Type } from "../lib/schema.ts";
import { isPlainText } from "../lib/text.ts";
import { SCOPES } from "./api-key.ts";

/** Largest value of a JavaScript `Date`. */
const TIME_MAX = 8_640_000_000_000_000;

export const nullableTime = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: TIME_MAX }), Type.Null()], { description });

/** The settings that keys and credentials have in common. */
export const KEY_CHOICES = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "Name for your reference.",
    check: (name) => (isPlainText(name) ? null : "A name must not contain control characters."),
  }),
  scopes: Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), {
    minItems: 1,
    description: "Permissions of the key.",
  }),
  allowedIps: Type.Array(
    Type.String({
      check: (network) =>
        readNetwork(network) ? null : "Use an IP address or a network, such as 203.0.113.7 or 203.0.113.0/24.",
    }),
    { maxItems: 100, description: "Networks from which the key may be used; empty allows all." },
  ),
  requestsPerSecond: Type.Union([Type.Integer({ minimum: 1, maximum: 100_000 }), Type.Null()], {
    description: "Rate limit in requests per second; null means no limit.",
  }),
  expiresAt: nullableTime("Expiry in epoch milliseconds; null means never."),
};
