import { Badge, Box } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { t } from "./i18n/t.ts";
import { useLost, useWatchedConnection } from "./connection.ts";

/** Shows in the header that the server cannot be reached. */
export function ConnectionBadge() {
  useWatchedConnection();
  const lost = useLost();
  return (
    <Box role="status">
      {lost && (
        <Badge color="red" size="lg" leftSection={<IconPlugConnectedX size={15} aria-hidden />} data-lost>
          {t("Connection lost, reconnecting…")}
        </Badge>
      )}
    </Box>
  );
}
