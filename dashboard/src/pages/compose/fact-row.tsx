import { Table, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** A fact with its name, as a row of a vertical table. */
export const FactRow = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th w={160}>{name}</Table.Th>
    <Table.Td>
      <Text size="sm" component="div">
        {children}
      </Text>
    </Table.Td>
  </Table.Tr>
);
