import { sender } from "../../catalog/kinds/sender.ts";
import { senders } from "../../catalog/shelves.ts";
import type { Telling } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

/** Who SMS may be from. */
export const senderTelling: Telling = {
  shelf: senders,
  about: "Who SMS may be from. On real carriers a request must name one of these; on the simulator any is learned.",
  kinds: [{ kind: sender, title: "Sender", example: { name: "HELIOG", content: { dltEntityId: null } } }],
  createExamples: { shop: { name: "MYSHOP" } },
  changeExamples: { "registered in India": { dltEntityId: "1101987654321098765" } },
};

export const senderRoutes = recordRoutes(senderTelling);
