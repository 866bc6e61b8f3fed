import { Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { useUrlState } from "../../url-state.ts";

interface Rule extends RecordRow {
  action: "block" | "allow";
  note: string | null;
}

const kindFor = (name: string): RecordKind<Rule> => ({
  path: "/api/verify-rules",
  one: "rule",
  add: t("Add rule"),
  nameTitle: t("Numbers"),
  fields: [
    {
      name: "name",
      label: t("Prefix or country"),
      hint: t("The first digits of numbers, without plus, such as 99890, or two letters of a country, such as UZ."),
      input: { kind: "text", placeholder: t("99890 or UZ") },
      required: true,
    },
    {
      name: "action",
      label: t("Action"),
      hint: t("Block sends no codes. Allow exempts the numbers from automatic blocks."),
      input: {
        kind: "choice",
        options: [
          { value: "block", label: t("Block") },
          { value: "allow", label: t("Allow") },
        ],
      },
      required: true,
    },
    { name: "note", label: t("Note"), input: { kind: "text", placeholder: t("Why") } },
  ],
  starts: { name, action: "block", note: null },
  columns: [
    {
      title: t("Action"),
      render: ({ action }) =>
        action === "block" ? <StatusBadge status="blocked" /> : <StatusBadge status="approved" word={t("Allowed")} />,
    },
    { title: t("Note"), wide: true, render: ({ note }) => <Text size="sm">{note ?? "–"}</Text> },
  ],
  empty: {
    sentence: t("No prefix or country is blocked or allowed by hand."),
    example: { name: "99890", action: "block" },
  },
  removal: t("Codes to these numbers are sent again at once, unless an automatic block or another rule stops them."),
});

/** Prefixes and countries that a user has blocked, or exempted from automatic blocks. */
export function VerifyRules() {
  const [{ name }] = useUrlState(["name"]);
  return <RecordTable kind={kindFor(name)} />;
}
