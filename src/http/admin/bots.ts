import { bot } from "../../records/types/bot.ts";
import { bots } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const botDocs: RecordDocs = {
  testKeysRead: true,
  type: bots,
  about:
    "Senders of RCS messages. On real carriers a request must name a stored bot; on the simulator new bots are learned from requests.",
  definitions: [
    { definition: bot, title: "Bot", example: { name: "heliograph", content: { title: "Heliograph", agentId: null } } },
  ],
  createExamples: { pipeline: { name: "my-shop", title: "My shop" } },
  updateExamples: { "another title": { title: "My new shop" } },
};

export const botRoutes = recordRoutes(botDocs);
