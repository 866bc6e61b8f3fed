import { Skeleton, Stack } from "@mantine/core";

/** What stands where a page will be in a moment. */
export const PageLoading = () => (
  <Stack aria-busy aria-label="The page is being loaded" gap="lg">
    <Skeleton height={34} width={260} />
    <Skeleton height={18} width="min(420px, 100%)" />
    <Skeleton height={240} />
  </Stack>
);
