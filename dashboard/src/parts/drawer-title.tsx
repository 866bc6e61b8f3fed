import { Text } from "@mantine/core";
import type { ReactNode } from "react";

/** The head of a drawer, as prominent as that of a page's part. */
export const DrawerTitle = ({ children }: { children: ReactNode }) => (
  <Text span fw={650} fz="lg">
    {children}
  </Text>
);
