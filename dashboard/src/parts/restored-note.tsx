import { Alert, Button, Group, Text } from "@mantine/core";
import { t } from "../i18n/t.ts";

/** Notes that the form was filled from a draft, with a button that discards it. */
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
