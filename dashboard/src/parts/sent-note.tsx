import { Alert, Anchor, Group, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { Link } from "wouter";
import type { Sent } from "../api-types.ts";

/** Says that a message is on its way, and where to look for it. */
export function SentNote({ sent }: { sent: Sent }) {
  const [first] = sent.data;
  if (!first) return null;
  const more = sent.totalCount - 1;
  return (
    <Alert color="green" icon={<IconCheck aria-hidden />} title="It is on its way" data-sent={first.messageId}>
      <Group gap="lg">
        <Anchor component={Link} href={`/messages/${first.messageId}`} size="sm" c="inherit">
          See what becomes of it
        </Anchor>
        <Anchor component={Link} href={`/phones/${first.recipient.replace("+", "")}`} size="sm" c="inherit">
          See it on the phone
        </Anchor>
        {more > 0 && <Text size="sm">and {more} more</Text>}
      </Group>
    </Alert>
  );
}
