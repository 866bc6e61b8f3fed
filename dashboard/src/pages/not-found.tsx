import { Button, Paper } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import { Link } from "wouter";
import { t } from "../i18n/t.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { PageHeader } from "../parts/page-header.tsx";

export default function NotFound() {
  return (
    <>
      <PageHeader title={t("Page not found")} />
      <Paper>
        <EmptyState
          icon={IconMapOff}
          sentence={t("Check the URL. The page may have moved.")}
          action={
            <Button component={Link} href="/">
              {t("Go to home")}
            </Button>
          }
        />
      </Paper>
    </>
  );
}
