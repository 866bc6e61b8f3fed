import { Grid } from "@mantine/core";
import { PageHeader } from "../../parts/page-header.tsx";
import { ChaosForm } from "./chaos-form.tsx";
import { MagicNumbers } from "./magic-numbers.tsx";

/** The simulated carrier: how well it behaves, and which numbers meet which fate. */
export default function Simulator() {
  return (
    <>
      <PageHeader
        title="Simulator"
        lead="A carrier with phones inside. Make it misbehave, and see what your program does about it."
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
