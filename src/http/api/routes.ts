import { route, storedQuietHours } from "../../catalog/kinds/route.ts";
import { EVERYTHING } from "../../catalog/samples.ts";
import { routes } from "../../catalog/shelves.ts";
import type { Telling } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

/** Which messages go to which carrier. */
export const routeTelling: Telling = {
  shelf: routes,
  about:
    "Which messages go to which carrier. Of the routes that fit a message, the one with the lowest `priority` is tried first; among equals `weight` decides.",
  kinds: [
    {
      kind: route,
      title: "Route",
      shown: { quietHours: storedQuietHours },
      example: {
        name: "Promotions to India",
        content: {
          ...EVERYTHING,
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
    "second choice": { name: "Second choice", carrier: "simulator", priority: 200 },
  },
  changeExamples: { "off for now": { enabled: false }, "half a minute": { failoverAfterSeconds: 30 } },
};

export const routeRoutes = recordRoutes(routeTelling);
