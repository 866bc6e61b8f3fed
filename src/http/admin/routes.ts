import { route, storedQuietHours } from "../../records/types/route.ts";
import { MATCH_ALL } from "../../records/sample-data.ts";
import { routes } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const routeDocs: RecordDocs = {
  type: routes,
  about:
    "Rules that send messages to carriers. Of the routes that match a message, the one with the lowest `priority` is tried first; equal priorities share traffic by `weight`.",
  definitions: [
    {
      definition: route,
      title: "Route",
      responseFields: { quietHours: storedQuietHours },
      example: {
        name: "Promotions to India",
        content: {
          ...MATCH_ALL,
          carrier: "simulator",
          routeClasses: ["PROMO"],
          prefixes: ["91"],
          quietHours: { from: "21:00", to: "10:00" },
        },
      },
    },
  ],
  createExamples: {
    "promotions to India": {
      name: "Promotions to India",
      routeClasses: ["PROMO"],
      prefixes: ["91"],
      carrier: "simulator",
      priority: 50,
      quietHours: "india",
    },
    "one bot": { name: "RCS of the shop", channel: "rcs", senders: ["my-shop"], carrier: "simulator" },
    fallback: { name: "Second choice", carrier: "simulator", priority: 200 },
  },
  updateExamples: { disable: { enabled: false }, "fail over after 30 seconds": { failoverAfterSeconds: 30 } },
};

export const routeRoutes = recordRoutes(routeDocs);
