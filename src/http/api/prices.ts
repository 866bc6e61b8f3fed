import Type from "typebox";
import type { PriceContent } from "../../model/catalog.ts";
import { ROUTE_CLASSES } from "../../model/message.ts";
import { recordRoutes, type GivenRecord } from "./records.ts";
import { isPrefix } from "./routes.ts";

/** `TRANS 91`; what fits everything leaves its part out. */
const usualName = ({ routeClass, prefix }: PriceContent): string => `${routeClass ?? "ALL"} ${prefix}`.trimEnd();

function checkPrefix({ fields, faults }: GivenRecord<"price", PriceContent>): void {
  if (fields.prefix === "" || isPrefix(fields.prefix)) return;
  const message = "prefix is the first 1 to 15 digits of international numbers, without a plus, like 91, or empty.";
  faults.push({ parameter: "prefix", message });
}

/** Two prices for the same messages would leave it to chance which one counts. */
function refuseTwin({ fields, named, known, catalog, faults }: GivenRecord<"price", PriceContent>): void {
  const twin = [...catalog.named("price").values()].find(
    ({ id, content }) =>
      id !== known?.id && content.prefix === fields.prefix && content.routeClass === fields.routeClass,
  );
  if (!twin) return;
  const message = `The price ${JSON.stringify(twin.name)} is for the same messages: change that one.`;
  faults.push({ parameter: named.has("prefix") ? "prefix" : "routeClass", message });
}

/** What messages cost. */
export const priceRoutes = recordRoutes<"price", PriceContent>({
  kind: "price",
  about:
    "Credits per segment. The longest prefix that fits decides, and among equals the price of a `routeClass` before one for all. What has no price costs one credit per segment.",
  name: { meaning: "For people; `TRANS 91` and its like unless given.", example: "TRANS 91" },
  fields: {
    routeClass: Type.Union([...ROUTE_CLASSES.map((routeClass) => Type.Literal(routeClass)), Type.Null()], {
      description: "The `type` of messages; null, which it is unless given, fits every type.",
    }),
    prefix: Type.String({
      description: "First digits of the recipients' numbers, without a plus; empty fits every number.",
    }),
    creditsPerSegment: Type.Integer({ minimum: 0, maximum: 1000, description: "What a segment costs." }),
  },
  defaults: { routeClass: null },
  contentExample: { routeClass: "TRANS", prefix: "91", creditsPerSegment: 2 },
  createExamples: { "notices to India": { routeClass: "TRANS", prefix: "91", creditsPerSegment: 2 } },
  changeExamples: { "for nothing": { creditsPerSegment: 0 } },
  read: (given) => {
    checkPrefix(given);
    refuseTwin(given);
    const { routeClass, prefix, creditsPerSegment } = given.fields;
    return { routeClass, prefix, creditsPerSegment };
  },
  // A name that nobody chose goes with what the price is for.
  nameOf: (fields, known) => (known && known.name !== usualName(known.content) ? known.name : usualName(fields)),
});
