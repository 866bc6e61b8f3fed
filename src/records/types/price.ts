import { Type } from "../../lib/schema.ts";
import type { PriceContent } from "../../model/catalog.ts";
import { ROUTE_CLASSES } from "../../model/message.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { isPrefix } from "./shared-fields.ts";

export const price = defineRecord({
  kind: "price",
  name: plainName("Name for your reference. Defaults to `TRANS 91`, according to type and prefix."),
  fields: {
    routeClass: Type.Default(
      Type.Union([...ROUTE_CLASSES.map((routeClass) => Type.Literal(routeClass)), Type.Null()], {
        description: "`type` of messages. Defaults to null, all types.",
      }),
      null,
    ),
    prefix: Type.String({
      description: "First digits of the recipient's number, without plus; empty matches all numbers.",
      check: (prefix) =>
        prefix === "" || isPrefix(prefix)
          ? null
          : "prefix must be the first 1 to 15 digits of international numbers, without plus, such as 91, or empty.",
    }),
    creditsPerSegment: Type.Integer({ minimum: 0, maximum: 1000, description: "Credits per segment." }),
  },
  dependsOn: { prefix: ["routeClass"], routeClass: ["prefix"] },
  read: ({ fields: { routeClass, prefix, creditsPerSegment }, named, known, catalog, faults }) => {
    // Two prices for the same messages would make the choice arbitrary.
    for (const { id, name, content } of catalog.named("price").values()) {
      if (id === known?.id || content.prefix !== prefix || content.routeClass !== routeClass) continue;
      const message = `The price ${JSON.stringify(name)} applies to the same messages: update that one.`;
      faults.push({ parameter: named.has("prefix") ? "prefix" : "routeClass", message });
    }
    return { routeClass, prefix, creditsPerSegment };
  },
  // A default name follows changes of type and prefix.
  nameOf: (fields, known) => (known && known.name !== usualName(known.content) ? known.name : usualName(fields)),
});

/** `TRANS 91`; an omitted type or prefix is left out. */
const usualName = ({ routeClass, prefix }: PriceContent): string => `${routeClass ?? "ALL"} ${prefix}`.trimEnd();
