import { carriers } from "../../catalog/shelves.ts";
import { Type } from "../../lib/schema.ts";
import { keepTemplates } from "../../messages/keep-templates.ts";
import { Problem } from "../../model/problem.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { EXAMPLE_ID, find } from "./records.ts";

async function pull(services: Services, call: AuthenticCall): Promise<object> {
  const { accountId, name } = await find(carriers, services, call);
  const carrier = services.carriers.find(accountId, name);
  if (!carrier) throw new Problem("RECORD_NOT_FOUND");
  return keepTemplates(services, accountId, carrier);
}

const names = (description: string) => Type.Array(Type.String(), { description });

/** Templates that a platform keeps, brought to where requests find them. */
export const pullCarrierTemplates: KeyedRoute = {
  method: "POST",
  path: "/api/carriers/:id/templates",
  family: "plain",
  scope: "manage",
  group: "Carriers",
  summary: "Bring a platform's templates",
  description:
    "Reads the templates that the platform behind the carrier keeps, and makes the account's what the platform says: new ones, other words, and whether they are approved. Templates that the platform does not name stay as they are. It happens by itself every fifteen minutes.",
  params: { id: { meaning: "The carrier's `id`.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
  response: Type.Object(
    {
      made: names("Templates that are new here."),
      changed: names("Templates that the platform has otherwise than they were here."),
      unread: Type.Array(
        Type.Object({
          name: Type.String({ description: "Its name." }),
          language: Type.String({ description: "Its language." }),
          reason: Type.String({ description: "What requests could not say of it." }),
        }),
        { description: "Templates that no request can be made for." },
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
