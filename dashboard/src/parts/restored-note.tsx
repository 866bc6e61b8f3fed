import { Alert, Button, Group, Text } from "@mantine/core";
import { t } from "../i18n/t.ts";

/** Says that a form begins with unsaved work of an earlier visit. */
export const RestoredNote = ({ discard }: { discard: () => void }) => (
  <Alert color="blue" data-restored>
    <Group justify="space-between">
      <Text size="sm">{t("Your unsaved draft is back.")}</Text>
      <Button size="compact-sm" variant="default" onClick={discard}>
        {t("Discard draft")}
      </Button>
    </Group>
  </Alert>
);
