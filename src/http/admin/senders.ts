import { sender } from "../../records/types/sender.ts";
import { senders } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const senderDocs: RecordDocs = {
  testKeysRead: true,
  type: senders,
  about:
    "Sender IDs of text messages. On real carriers a request must name a stored sender; on the simulator new senders are learned from requests.",
  definitions: [{ definition: sender, title: "Sender", example: { name: "HELIOG", content: { dltEntityId: null } } }],
  createExamples: { pipeline: { name: "MYSHOP" } },
  updateExamples: { "registered in India": { dltEntityId: "1101987654321098765" } },
};

export const senderRoutes = recordRoutes(senderDocs);
