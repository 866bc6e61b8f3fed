import { Group, Progress, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { formatNumber } from "../i18n/format.ts";

export interface Bar {
  label: ReactNode;
  /** Name and count as text, for screen readers. */
  name: string;
  count: number;
  color?: string;
}

/** Bars with counts, as a funnel or a ranking. */
export function BarList({ bars, of }: { bars: readonly Bar[]; of: number }) {
  return (
    <Stack gap="md">
      {bars.map(({ label, name, count, color = "sun" }) => {
        const percent = of === 0 ? 0 : (count / of) * 100;
        return (
          <div key={name} data-bar={name}>
            <Group justify="space-between" mb={4} wrap="nowrap" gap="sm">
              <Text size="sm" component="div">
                {label}
              </Text>
              <Text size="sm" fw={600} flex="none">
                {formatNumber(count)}
                <Text span size="xs" c="dimmed" ml={6}>
                  {of === 0 ? "–" : `${percent < 10 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`}
                </Text>
              </Text>
            </Group>
            <Progress value={percent} color={color} size="lg" aria-label={name} />
          </div>
        );
      })}
    </Stack>
  );
}
