import type { EndpointRecord } from "../../records/catalog.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import { Problem } from "../../model/problem.ts";
import type { AuthenticCall, Services } from "../route.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { find } from "./records.ts";

/** Finds the webhook or dlr-config of the path. */
export async function findEndpoint(
  { type }: RecordDocs,
  services: Services,
  call: AuthenticCall,
): Promise<EndpointRecord> {
  const record: CatalogRecord = await find(type, services, call);
  return record as EndpointRecord;
}

/** Callbacks resent to a disabled endpoint would be dropped at once. */
export function refuseDisabled({ name, content }: EndpointRecord): void {
  if (content.enabled) return;
  const why = content.disabledReason === null ? "" : ` (${content.disabledReason})`;
  const message = `${JSON.stringify(name)} is disabled${why}: set enabled to true first.`;
  throw new Problem("NOT_RESENDABLE", { message });
}
