import { Alert, Anchor, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "wouter";
import { ApiError, NoAnswer } from "../api.ts";
import { t } from "../i18n/t.ts";

interface Props {
  error: Error;
  retry?: (() => void) | undefined;
  /** The failed action, such as "Messages cannot be loaded". */
  title?: string;
}

/** Without a response, the result of the request is unknown. */
const UNKNOWN = t("Unknown: check before sending again");

/** An error: its message, its code with a link to the reference, and the request id for support. */
export function ErrorState({ error, retry, title = t("Something went wrong") }: Props) {
  const isUnknown = error instanceof NoAnswer;
  const known = error instanceof ApiError ? error : null;
  const details = known?.details.filter(({ message }) => message !== error.message) ?? [];
  return (
    <Alert
      color={isUnknown ? "yellow" : "red"}
      icon={<IconAlertTriangle aria-hidden />}
      title={isUnknown ? UNKNOWN : title}
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {details.length > 0 && (
          <List size="sm">
            {details.map(({ parameter, message }) => (
              <List.Item key={parameter + message}>{message}</List.Item>
            ))}
          </List>
        )}
        {known && known.status > 0 && (
          <Group gap="md">
            <Anchor href={known.reference} target="_blank" size="sm" c="inherit" td="underline">
              {t("{code}: explanation", { code: known.code })}
            </Anchor>
            {known.requestId && (
              <Text size="xs">
                {t("Request")}{" "}
                <Anchor
                  component={Link}
                  href={`/developers/requests?requestId=${known.requestId}`}
                  size="xs"
                  c="inherit"
                  td="underline"
                >
                  <Code bg="transparent">{known.requestId}</Code>
                </Anchor>
              </Text>
            )}
          </Group>
        )}
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            {t("Try again")}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
