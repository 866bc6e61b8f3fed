import { ActionIcon, Anchor, Group, Paper, Stack, Text, Title, Tooltip } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import { t } from "../../i18n/t.ts";
import { useLive, type Moved } from "../../live.ts";
import { ChannelBadge } from "../../parts/channel.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";

const SHOWN = 10;

/** Live state changes, newest first. The user can pause them. */
export function Ticker() {
  const [moves, setMoves] = useState<readonly Moved[]>([]);
  const [more, setMore] = useState(0);
  const [paused, setPaused] = useState(false);
  useLive<Moved>("moved", (move) => {
    if (!paused) setMoves((before) => [move, ...before].slice(0, SHOWN));
  });
  useLive<{ count: number }>("more", ({ count }) => {
    if (!paused) setMore((before) => before + count);
  });
  const toggle = paused ? t("Resume") : t("Pause");
  return (
    <Paper component="section" aria-label={t("Live activity")} h="100%">
      <Group justify="space-between" mb="md">
        <Title order={2} size="h5">
          {t("Live activity")}
        </Title>
        <Tooltip label={toggle}>
          <ActionIcon variant="default" aria-label={toggle} aria-pressed={paused} onClick={() => setPaused(!paused)}>
            {paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      </Group>
      {moves.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("Events appear here while this page is open.")}
        </Text>
      )}
      <Stack gap="xs" component="ul" p={0} m={0} data-ticker>
        {moves.map((move) => (
          <Row key={`${move.messageId} ${move.state}`} {...move} />
        ))}
      </Stack>
      {more > 0 && (
        <Text size="xs" c="dimmed" mt="sm">
          {t("and {more} more not shown", { more })}
        </Text>
      )}
    </Paper>
  );
}

const Row = ({ messageId, channel, state, recipient, at }: Moved) => (
  <Group component="li" gap="xs" justify="space-between">
    <Group gap="xs">
      <StatusBadge status={state} />
      <ChannelBadge channel={channel} />
      <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
        {recipient}
      </Anchor>
    </Group>
    <TimeText at={at} size="xs" c="dimmed" />
  </Group>
);
