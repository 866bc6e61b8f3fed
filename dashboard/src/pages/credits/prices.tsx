import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";

interface Price extends RecordRow {
  routeClass: string | null;
  prefix: string;
  creditsPerSegment: number;
}

const TYPES = ["OTP", "TRANS", "PROMO"].map((value) => ({ value, label: value }));

const KIND: RecordKind<Price> = {
  path: "/api/prices",
  one: "price",
  add: "Add price",
  may: "own",
  starts: { name: "", routeClass: null, prefix: "", creditsPerSegment: 1 },
  fields: [
    {
      name: "prefix",
      label: "Numbers that begin with",
      hint: "Without a plus, like 91; empty fits every number. The longest that fits counts.",
      input: { kind: "text", placeholder: "91" },
      required: true,
    },
    { name: "routeClass", label: "Route type", input: { kind: "choice", options: TYPES, none: "Every type" } },
    {
      name: "creditsPerSegment",
      label: "Credits for a segment",
      input: { kind: "number", min: 0, max: 1000 },
      required: true,
    },
    {
      name: "name",
      label: "Name",
      hint: "Made of the above unless given.",
      input: { kind: "text", placeholder: "TRANS 91", empty: "omit" },
    },
  ],
  columns: [
    { title: "Numbers", render: ({ prefix }) => (prefix === "" ? "all" : `${prefix}…`) },
    { title: "Type", wide: true, render: ({ routeClass }) => routeClass ?? "every" },
    { title: "Credits for a segment", align: "right", render: ({ creditsPerSegment }) => creditsPerSegment },
  ],
  empty: {
    sentence: "No price is set, so every segment costs one credit.",
    example: { prefix: "91", routeClass: "TRANS", creditsPerSegment: 2 },
  },
  removal: "The next shorter prefix counts from now on, or one credit for a segment.",
};

/** What a segment costs, by type and by the first digits of the number. */
export const Prices = () => <RecordTable kind={KIND} />;
