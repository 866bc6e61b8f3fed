import { Alert, Anchor, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { ApiError } from "../api.ts";

interface Props {
  error: Error;
  retry?: (() => void) | undefined;
  /** What was being done: "The messages could not be read". */
  title?: string;
}

/** What went wrong: in words, with the code and its page, and the id that support asks for. */
export function ErrorState({ error, retry, title = "That did not work" }: Props) {
  const known = error instanceof ApiError ? error : null;
  const details = known?.details.filter(({ message }) => message !== error.message) ?? [];
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={title} role="alert">
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
              {known.code}: what it means
            </Anchor>
            {known.requestId && (
              <Text size="xs">
                Request <Code bg="transparent">{known.requestId}</Code>
              </Text>
            )}
          </Group>
        )}
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
