import { ROUTE_CLASSES } from "../model/message.ts";
import type { Services } from "./route.ts";

const ROUTE_CLASS = /"type"\s*:\s*"(OTP|TRANS|PROMO)"/;

/**
 * Load shedding before the body is parsed: while messages of a type are refused, a body that shows this type is not worth its
 * parsing. Requests with an idempotency key may have a stored response, and scheduled messages are not sent now, so both pass.
 */
export function isRefusedEarly(
  { acceptDeps: { admission } }: Pick<Services, "acceptDeps">,
  idempotencyKey: string | string[] | undefined,
  body: string,
  accountId: number,
): boolean {
  if (!admission.isRefusing("TRANS", accountId) && !admission.isRefusing("PROMO", accountId)) return false;
  if (idempotencyKey !== undefined || body.includes('"sendAt"')) return false;
  const type = ROUTE_CLASS.exec(body)?.[1];
  return ROUTE_CLASSES.some((routeClass) => routeClass === type && admission.isRefusing(routeClass, accountId));
}
