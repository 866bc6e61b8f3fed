import { number } from "../../records/types/number.ts";
import { numbers } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const numberDocs: RecordDocs = {
  testKeysRead: true,
  type: numbers,
  about:
    "Business numbers that send chat-app messages. On real carriers a request must name a stored number; on the simulator new numbers are learned from requests.",
  definitions: [
    {
      definition: number,
      title: "Number",
      example: { name: "+15550100199", content: { title: "Heliograph", phoneNumberId: null } },
    },
  ],
  createExamples: { pipeline: { name: "+1 555 010 0198", title: "My shop" } },
  updateExamples: { "another title": { title: "My new shop" } },
};

export const numberRoutes = recordRoutes(numberDocs);
