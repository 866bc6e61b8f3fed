import { Button, Paper } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import { Link } from "wouter";
import { EmptyState } from "../parts/empty-state.tsx";
import { PageHeader } from "../parts/page-header.tsx";

export default function NotFound() {
  return (
    <>
      <PageHeader title="There is no such page" />
      <Paper>
        <EmptyState
          icon={IconMapOff}
          sentence="The address leads nowhere: it may have been typed wrong, or the page has moved."
          action={
            <Button component={Link} href="/">
              Go to the start
            </Button>
          }
        />
      </Paper>
    </>
  );
}
