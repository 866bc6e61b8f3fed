import type { EndpointRecord } from "../../catalog/catalog.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import { Problem } from "../../model/problem.ts";
import type { AuthenticCall, Services } from "../route.ts";
import type { Telling } from "./record-shapes.ts";
import { find } from "./records.ts";

/** The webhook or delivery-report configuration that a path names. */
export async function findEndpoint(
  { shelf }: Telling,
  services: Services,
  call: AuthenticCall,
): Promise<EndpointRecord> {
  const record: CatalogRecord = await find(shelf, services, call);
  return record as EndpointRecord;
}

/** What is sent to an endpoint that is off would be dropped at once. */
export function refuseDisabled({ name, content }: EndpointRecord): void {
  if (content.enabled) return;
  const why = content.disabledReason === null ? "" : ` (${content.disabledReason})`;
  const message = `${JSON.stringify(name)} is switched off${why}: set enabled to true first.`;
  throw new Problem("NOT_RESENDABLE", { message });
}
