import { Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Title of a drawer, in the size of a section heading. */
export const DrawerTitle = ({ children }: { children: ReactNode }) => (
  <Text span fw={650} fz="lg">
    {children}
  </Text>
);
