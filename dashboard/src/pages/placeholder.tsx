import { Paper } from "@mantine/core";
import { IconTools } from "@tabler/icons-react";
import { useLocation } from "wouter";
import { ACCOUNT_NAV, destinations, NAV } from "../nav.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { PageHeader } from "../parts/page-header.tsx";

/** Stands for a page until it is written. */
export default function Placeholder() {
  const [path] = useLocation();
  const found = destinations([...NAV, ...ACCOUNT_NAV]).find((each) => path.startsWith(each.path));
  return (
    <>
      <PageHeader title={found?.label ?? "Page"} />
      <Paper>
        <EmptyState icon={IconTools} sentence="This page is being built." />
      </Paper>
    </>
  );
}
