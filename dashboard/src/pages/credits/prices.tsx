import { t } from "../../i18n/t.ts";
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
  add: t("Add price"),
  may: "own",
  starts: { name: "", routeClass: null, prefix: "", creditsPerSegment: 1 },
  fields: [
    {
      name: "prefix",
      label: t("Number prefixes"),
      hint: t("Without a plus, such as 91. Leave empty for all numbers. The longest match counts."),
      input: { kind: "text", placeholder: "91" },
      required: true,
    },
    { name: "routeClass", label: t("Route type"), input: { kind: "choice", options: TYPES, none: t("All types") } },
    {
      name: "creditsPerSegment",
      label: t("Credits per segment"),
      input: { kind: "number", min: 0, max: 1000 },
      required: true,
    },
    {
      name: "name",
      label: t("Name"),
      hint: t("Generated if empty."),
      input: { kind: "text", placeholder: "TRANS 91", empty: "omit" },
    },
  ],
  columns: [
    { title: t("Numbers"), render: ({ prefix }) => (prefix === "" ? "all" : `${prefix}…`) },
    { title: t("Type"), wide: true, render: ({ routeClass }) => routeClass ?? "every" },
    { title: t("Credits per segment"), align: "right", render: ({ creditsPerSegment }) => creditsPerSegment },
  ],
  empty: {
    sentence: t("No prices yet. Every segment costs one credit."),
    example: { prefix: "91", routeClass: "TRANS", creditsPerSegment: 2 },
  },
  removal: t("The next shorter prefix applies from now on, or one credit per segment."),
};

/** Prices per segment, by message class and number prefix. */
export const Prices = () => <RecordTable kind={KIND} />;
