import { bot } from "../../catalog/kinds/bot.ts";
import { bots } from "../../catalog/shelves.ts";
import type { Telling } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

/** Who sends on RCS. */
export const botTelling: Telling = {
  shelf: bots,
  about: "Who sends on RCS. On real carriers a request must name one of these; on the simulator any is learned.",
  kinds: [
    { kind: bot, title: "Bot", example: { name: "heliograph", content: { title: "Heliograph", agentId: null } } },
  ],
  createExamples: { shop: { name: "my-shop", title: "My shop" } },
  changeExamples: { "another title": { title: "My new shop" } },
};

export const botRoutes = recordRoutes(botTelling);
