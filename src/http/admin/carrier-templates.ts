import { carriers } from "../../records/record-types.ts";
import { Type } from "../../lib/schema.ts";
import { syncTemplates } from "../../pipeline/sync-templates.ts";
import { Problem } from "../../model/problem.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { EXAMPLE_ID, find } from "./records.ts";

async function pull(services: Services, call: AuthenticCall): Promise<object> {
  const { accountId, name } = await find(carriers, services, call);
  const carrier = services.carriers.find(accountId, name);
  if (!carrier) throw new Problem("RECORD_NOT_FOUND");
  return syncTemplates(services, accountId, carrier);
}

const names = (description: string) => Type.Array(Type.String(), { description });

/** Syncs the templates stored at a platform into the account. */
export const pullCarrierTemplates: KeyedRoute = {
  method: "POST",
  path: "/api/carriers/:id/templates",
  family: "plain",
  scope: "manage",
  testKeys: null,
  group: "Carriers",
  summary: "Sync templates from a platform",
  description:
    "Reads the templates stored at the carrier's platform and updates the account's templates: creates new ones, updates texts and approval status. Templates unknown to the platform stay unchanged. Runs automatically every 15 minutes.",
  params: { id: { meaning: "Carrier ID.", example: EXAMPLE_ID } },
  problems: ["INVALID_REQUEST", "RECORD_NOT_FOUND"],
  response: Type.Object(
    {
      made: names("Templates created."),
      changed: names("Templates updated."),
      unread: Type.Array(
        Type.Object({
          name: Type.String({ description: "Template name." }),
          language: Type.String({ description: "Template language." }),
          reason: Type.String({ description: "Reason." }),
        }),
        { description: "Platform templates that cannot be used in requests." },
      ),
    },
    { title: "PulledTemplates" },
  ),
  responseExample: {
    made: ["order_shipped"],
    changed: [],
    unread: [{ name: "spring_cards", language: "en", reason: "it has several cards" }],
  },
  handle: pull,
};
