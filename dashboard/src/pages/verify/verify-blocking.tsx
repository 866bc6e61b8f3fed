import { Stack, Title } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { VerifyBlocks } from "./verify-blocks.tsx";
import { VerifyRules } from "./verify-rules.tsx";

/** Blocked prefixes: rules set by users, and automatic blocks by the pumping protection. */
export const VerifyBlocking = () => (
  <Stack gap="xl">
    <section aria-labelledby="by-hand">
      <Title order={2} size="h4" mb="md" id="by-hand">
        {t("Blocked and allowed by hand")}
      </Title>
      <VerifyRules />
    </section>
    <section aria-labelledby="automatic">
      <Title order={2} size="h4" mb="md" id="automatic">
        {t("Blocked automatically")}
      </Title>
      <VerifyBlocks />
    </section>
  </Stack>
);
