import { number } from "../../catalog/kinds/number.ts";
import { numbers } from "../../catalog/shelves.ts";
import type { Telling } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

/** Who sends on the chat app. */
export const numberTelling: Telling = {
  shelf: numbers,
  about:
    "Business numbers, which chat-app messages are from. On real carriers a request must name one of these; on the simulator any is learned.",
  kinds: [
    {
      kind: number,
      title: "Number",
      example: { name: "+15550100199", content: { title: "Heliograph", phoneNumberId: null } },
    },
  ],
  createExamples: { shop: { name: "+1 555 010 0198", title: "My shop" } },
  changeExamples: { "another title": { title: "My new shop" } },
};

export const numberRoutes = recordRoutes(numberTelling);
