import { Group, SimpleGrid, Text } from "@mantine/core";
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from "@tabler/icons-react";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { FigureCard } from "../../parts/figure-card.tsx";
import type { Compared, Measure, Stats } from "./stats.ts";

const CARDS: readonly { measure: Measure; label: string }[] = [
  { measure: "sent", label: t("Sent") },
  { measure: "delivered", label: t("Delivered") },
  { measure: "failed", label: t("Failed") },
  { measure: "read", label: t("Read") },
];

/** Message counts, each compared with the previous period. */
export const Totals = ({ totals, comparable }: Pick<Stats, "totals" | "comparable">) => (
  <SimpleGrid cols={{ base: 2, md: 4 }}>
    {CARDS.map(({ measure, label }) => (
      <FigureCard
        key={measure}
        label={label}
        value={formatNumber(totals[measure].count)}
        note={comparable ? <Change {...totals[measure]} /> : t("Counts older than retention are incomplete")}
      />
    ))}
  </SimpleGrid>
);

/** A change as an arrow and text. It has no colour, because more is not always better. */
function Change({ before, change }: Compared) {
  if (change === null) return t("No data for the previous period");
  const Arrow = change === 0 ? IconArrowRight : change > 0 ? IconArrowUpRight : IconArrowDownRight;
  const percent = formatNumber(Math.round(Math.abs(change) * 100));
  return (
    <Group gap={4} wrap="nowrap">
      <Arrow size={14} aria-hidden />
      <Text size="xs" span>
        {change === 0
          ? t("unchanged")
          : change > 0
            ? t("{percent} % more than {before}", { percent, before })
            : t("{percent} % less than {before}", { percent, before })}
      </Text>
    </Group>
  );
}
