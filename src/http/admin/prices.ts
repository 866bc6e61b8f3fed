import { price } from "../../records/types/price.ts";
import { prices } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const priceDocs: RecordDocs = {
  type: prices,
  // Owners only: a price of zero replaces credits.
  updateRole: "owner",
  about:
    "Credits per segment. The longest matching prefix applies; among equal prefixes a price with a `routeClass` takes precedence. Messages without a price cost one credit per segment.",
  definitions: [
    {
      definition: price,
      title: "Price",
      example: { name: "TRANS 91", content: { routeClass: "TRANS", prefix: "91", creditsPerSegment: 2 } },
    },
  ],
  createExamples: { "notices to India": { routeClass: "TRANS", prefix: "91", creditsPerSegment: 2 } },
  updateExamples: { free: { creditsPerSegment: 0 } },
};

export const priceRoutes = recordRoutes(priceDocs);
