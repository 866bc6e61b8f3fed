import { Group, SimpleGrid, Text } from "@mantine/core";
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from "@tabler/icons-react";
import { FigureCard } from "../../parts/figure-card.tsx";
import type { Compared, Measure, Stats } from "./stats.ts";

const CARDS: readonly { measure: Measure; label: string }[] = [
  { measure: "sent", label: "Sent" },
  { measure: "delivered", label: "Delivered" },
  { measure: "failed", label: "Failed" },
  { measure: "read", label: "Read" },
];

/** The four figures that say how it goes, each beside what it was. */
export const Totals = ({ totals, comparable }: Pick<Stats, "totals" | "comparable">) => (
  <SimpleGrid cols={{ base: 2, md: 4 }}>
    {CARDS.map(({ measure, label }) => (
      <FigureCard
        key={measure}
        label={label}
        value={totals[measure].count.toLocaleString()}
        note={comparable ? <Change {...totals[measure]} /> : "what was before is no longer kept"}
      />
    ))}
  </SimpleGrid>
);

/** A change in words with an arrow; whether it is good is for the reader to say. */
function Change({ count, before, change }: Compared) {
  if (change === null) return count === 0 ? "none before either" : "none in the time before";
  const Arrow = change === 0 ? IconArrowRight : change > 0 ? IconArrowUpRight : IconArrowDownRight;
  const percent = Math.round(Math.abs(change) * 100).toLocaleString();
  return (
    <Group gap={4} wrap="nowrap">
      <Arrow size={14} aria-hidden />
      <Text size="xs" span>
        {change === 0
          ? "as many as before"
          : `${percent} % ${change > 0 ? "more" : "less"} than ${before.toLocaleString()}`}
      </Text>
    </Group>
  );
}
