import { Accordion, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { Callback } from "../api-types.ts";
import { t } from "../i18n/t.ts";
import { CallbackBadge } from "./callback-badge.tsx";
import { CallbackDetail } from "./callback-detail.tsx";
import { TimeText } from "./time-text.tsx";

/** A list of callbacks. Each opens to show its request and responses. */
export function CallbackList({ callbacks }: { callbacks: readonly Callback[] }) {
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <Accordion variant="separated" value={opened} onChange={setOpened} order={3}>
      {callbacks.map(({ id, event, status, endpoint, state, happenedAt, tries, lastAttempt }) => (
        <Accordion.Item key={id} value={id} data-callback={event}>
          <Accordion.Control>
            <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start" pr="xs">
              <div>
                <Text size="sm" fw={600}>
                  {[event, status].filter(Boolean).join(" ")}
                </Text>
                <Text size="xs" c="dimmed" component="div">
                  {endpoint ?? t("a deleted endpoint")}
                  {tries > 1 ? t(" · {tries} tries", { tries }) : ""} · <TimeText at={happenedAt} size="xs" />
                </Text>
              </div>
              <CallbackBadge state={state} tries={tries} lastAttempt={lastAttempt} />
            </Group>
          </Accordion.Control>
          <Accordion.Panel>{opened === id && <CallbackDetail id={id} />}</Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}
