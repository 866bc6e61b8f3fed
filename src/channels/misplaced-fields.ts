import { joinWithOr } from "../lib/text.ts";
import { DEFAULT_SMS_LIMITS } from "../model/message.ts";
import type { Fault } from "../model/problem.ts";
import { generateBody, outcomeBody, validateBody } from "../model/verify-bodies.ts";
import { chatBody } from "./chatapp/body.ts";
import { rcsBody } from "./rcs/body.ts";
import { smsBody } from "./sms/body.ts";
import { wayBodies, waysBody } from "./ways/body.ts";

/** Every body of `/v1`, by the name that a refusal gives it. */
const BODIES = {
  "/v1/sms": smsBody(DEFAULT_SMS_LIMITS),
  "/v1/rcs": rcsBody(DEFAULT_SMS_LIMITS),
  "/v1/chatapp": chatBody(DEFAULT_SMS_LIMITS),
  "/v1/messages": waysBody,
  "the rcs way of /v1/messages": wayBodies.rcs,
  "the chatapp way of /v1/messages": wayBodies.chatapp,
  "the sms way of /v1/messages": wayBodies.sms,
  "/v1/verify": generateBody,
  "/v1/verify/validate": validateBody,
  "/v1/verify/{verifyId}/outcome": outcomeBody,
} as const;

/** The bodies that have a field, by field. */
const OWNERS = new Map<string, string[]>();
for (const [name, { properties }] of Object.entries(BODIES))
  for (const field of Object.keys(properties)) OWNERS.set(field, [...(OWNERS.get(field) ?? []), name]);

/**
 * Finds fields that belong to other operations. Ignoring them would be worse than a refusal: a message with `sendAt`
 * would go out at once. Fields of no operation are ignored, and so is null.
 */
export function misplacedFaults(known: readonly string[]): (body: Readonly<Record<string, unknown>>) => Fault[] {
  const misplaced = new Map([...OWNERS].filter(([field]) => !known.includes(field)));
  return (body) => {
    const faults: Fault[] = [];
    for (const field of Object.keys(body)) {
      const owners = misplaced.get(field);
      if (owners && (body[field] ?? null) !== null)
        faults.push({
          parameter: field,
          message: `${field} belongs to ${joinWithOr(owners)} and does nothing here: leave it out.`,
        });
    }
    return faults;
  };
}
