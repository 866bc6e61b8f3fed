import { price } from "../../catalog/kinds/price.ts";
import { prices } from "../../catalog/shelves.ts";
import type { Telling } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

/** What messages cost. */
export const priceTelling: Telling = {
  shelf: prices,
  // Whoever sets a price to nothing needs no credits.
  changedBy: "owner",
  about:
    "Credits per segment. The longest prefix that fits decides, and among equals the price of a `routeClass` before one for all. What has no price costs one credit per segment.",
  kinds: [
    {
      kind: price,
      title: "Price",
      example: { name: "TRANS 91", content: { routeClass: "TRANS", prefix: "91", creditsPerSegment: 2 } },
    },
  ],
  createExamples: { "notices to India": { routeClass: "TRANS", prefix: "91", creditsPerSegment: 2 } },
  changeExamples: { "for nothing": { creditsPerSegment: 0 } },
};

export const priceRoutes = recordRoutes(priceTelling);
