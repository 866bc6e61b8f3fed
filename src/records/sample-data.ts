import { newId } from "../lib/ids.ts";
import type { CatalogContents, CatalogKind, CatalogRecord, RouteContent } from "../model/catalog.ts";
import { DEFAULT_VERIFY_CONFIG } from "../model/verify-config.ts";
import { SAMPLE_CHAT_TEMPLATES, SAMPLE_RCS_TEMPLATES } from "./sample-templates.ts";

/** Route that matches all messages. */
export const MATCH_ALL: Omit<RouteContent, "carrier"> = {
  channel: null,
  routeClasses: [],
  prefixes: [],
  senders: [],
  priority: 100,
  weight: 1,
  enabled: true,
  quietHours: null,
  failoverAfterSeconds: null,
  repeatPromotionsInDoubt: false,
  simulateLive: false,
};

/** After every route with the default priority. */
const LAST_PRIORITY = 1000;

/**
 * Initial records of a new account: a route to the simulator, and the records used in the examples of the send
 * endpoints.
 */
export function sampleRecords(now: number): Omit<CatalogRecord, "accountId">[] {
  const authored = <K extends CatalogKind>(kind: K, name: string, content: CatalogContents[K]) => ({
    kind,
    id: newId(now),
    name,
    origin: "authored" as const,
    content,
    createdAt: now,
    updatedAt: now,
  });
  return [
    authored("route", "Everything to the simulator", {
      ...MATCH_ALL,
      carrier: "simulator",
      priority: LAST_PRIORITY,
    }),
    authored("sender", "HELIOG", { dltEntityId: null }),
    authored("template", "welcome", {
      channel: "sms",
      text: "Hello {#var#}, welcome! Your order {#var#} is on its way.",
      variables: 2,
      dltContentId: null,
      dltEntityId: null,
    }),
    authored("number", "+15550100199", { title: "Heliograph", phoneNumberId: null }),
    ...Object.entries(SAMPLE_CHAT_TEMPLATES).map(([name, template]) => authored("chatTemplate", name, template)),
    authored("bot", "heliograph", { title: "Heliograph", agentId: null }),
    ...Object.entries(SAMPLE_RCS_TEMPLATES).map(([name, template]) => authored("rcsTemplate", name, template)),
    authored("verifyConfig", "default", DEFAULT_VERIFY_CONFIG),
  ];
}
