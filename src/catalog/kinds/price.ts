import { Type } from "../../lib/schema.ts";
import type { PriceContent } from "../../model/catalog.ts";
import { ROUTE_CLASSES } from "../../model/message.ts";
import type { GivenRecord, RecordKind } from "../record-kind.ts";
import { isPrefix } from "./prefix.ts";

/** What messages cost. */
export const price: RecordKind<"price", PriceContent> = {
  kind: "price",
  name: { meaning: "For people; `TRANS 91` and its like unless given." },
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
  read: (given) => {
    checkPrefix(given);
    refuseTwin(given);
    const { routeClass, prefix, creditsPerSegment } = given.fields;
    return { routeClass, prefix, creditsPerSegment };
  },
  // A name that nobody chose goes with what the price is for.
  nameOf: (fields, known) => (known && known.name !== usualName(known.content) ? known.name : usualName(fields)),
};

/** `TRANS 91`; what fits everything leaves its part out. */
const usualName = ({ routeClass, prefix }: PriceContent): string => `${routeClass ?? "ALL"} ${prefix}`.trimEnd();

function checkPrefix({ fields, faults }: GivenRecord<"price", PriceContent>): void {
  if (fields.prefix === "" || isPrefix(fields.prefix)) return;
  const message = "prefix is the first 1 to 15 digits of international numbers, without a plus, like 91, or empty.";
  faults.push({ parameter: "prefix", message });
}

/** Two prices for the same messages would leave it to chance which one counts. */
function refuseTwin({ fields, named, known, catalog, faults }: GivenRecord<"price", PriceContent>): void {
  for (const { id, name, content } of catalog.named("price").values()) {
    if (id === known?.id || content.prefix !== fields.prefix || content.routeClass !== fields.routeClass) continue;
    const message = `The price ${JSON.stringify(name)} is for the same messages: change that one.`;
    faults.push({ parameter: named.has("prefix") ? "prefix" : "routeClass", message });
  }
}
