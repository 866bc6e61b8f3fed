import { Grid } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { ChaosForm } from "./chaos-form.tsx";
import { MagicNumbers } from "./magic-numbers.tsx";

/** The simulated carrier: its faults and its magic numbers. */
export default function Simulator() {
  return (
    <>
      <PageHeader
        title={t("Simulator")}
        lead={t("A carrier with virtual phones. Inject faults to test how your program handles them.")}
      />
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <ChaosForm />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <MagicNumbers />
        </Grid.Col>
      </Grid>
    </>
  );
}
