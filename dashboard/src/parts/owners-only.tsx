import { Paper } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { useMay } from "../session.tsx";
import { EmptyState } from "./empty-state.tsx";
import { PageHeader } from "./page-header.tsx";

interface Props {
  title: string;
  children: ReactNode;
}

/** A page for owners only. Other roles get an explanation and cause no request. */
export function OwnersOnly({ title, children }: Props) {
  if (useMay("own")) return children;
  return (
    <>
      <PageHeader title={title} />
      <Paper>
        <EmptyState icon={IconLock} sentence={t("Only owners can see this page.")} />
      </Paper>
    </>
  );
}
