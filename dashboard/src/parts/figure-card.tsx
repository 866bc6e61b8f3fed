import { Paper, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  label: string;
  value: ReactNode;
  /** Explanation below the value. */
  note?: ReactNode;
}

/** A card with one important figure. */
export const FigureCard = ({ label, value, note }: Props) => (
  <Paper p="md" data-figure={label}>
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Text fz={{ base: 22, xs: 28 }} fw={650} lh={1.3} component="div">
      {value}
    </Text>
    {note && (
      <Text size="xs" c="dimmed" component="div">
        {note}
      </Text>
    )}
  </Paper>
);
