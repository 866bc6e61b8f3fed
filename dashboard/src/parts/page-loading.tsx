import { Skeleton, Stack } from "@mantine/core";
import { t } from "../i18n/t.ts";

/** Placeholder of a page while it loads. */
export const PageLoading = () => (
  <Stack aria-busy aria-label={t("Loading")} gap="lg">
    <Skeleton height={34} width={260} />
    <Skeleton height={18} width="min(420px, 100%)" />
    <Skeleton height={240} />
  </Stack>
);
