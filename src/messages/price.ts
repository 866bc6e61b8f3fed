import type { AccountCatalog } from "../catalog/catalog.ts";
import type { RouteClass } from "../model/message.ts";

/** What a message costs, in whole credits: its segments at the price of its class and the longest prefix that fits. */
export function creditsFor(
  { prices }: AccountCatalog,
  routeClass: RouteClass,
  recipient: string,
  segments: number,
): number {
  for (const { content } of prices) {
    if (content.routeClass !== null && content.routeClass !== routeClass) continue;
    if (recipient.startsWith(content.prefix)) return segments * content.creditsPerSegment;
  }
  return segments;
}
