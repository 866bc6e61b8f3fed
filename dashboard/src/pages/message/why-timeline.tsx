import { Group, Text, Timeline } from "@mantine/core";
import {
  IconArrowFork,
  IconCash,
  IconCheck,
  IconClick,
  IconFlag,
  IconInbox,
  IconMessageReply,
  IconPlayerSkipForward,
  IconPlayerTrackNext,
  IconReceipt,
  IconSend,
  IconShieldCheck,
  IconTransferIn,
  IconWebhook,
  type Icon,
} from "@tabler/icons-react";
import type { TimelineStep } from "../../api-types.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ToldText } from "../../parts/told-text.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";

interface Look {
  title: string;
  icon: Icon;
}

/** The steps as people call them. */
const LOOKS: Readonly<Record<string, Look>> = {
  accepted: { title: "Accepted", icon: IconInbox },
  number: { title: "Number read", icon: IconCheck },
  policy: { title: "Rule", icon: IconShieldCheck },
  "passed over": { title: "Route passed over", icon: IconPlayerSkipForward },
  attempt: { title: "Handed over", icon: IconSend },
  answer: { title: "The carrier's answer", icon: IconTransferIn },
  receipt: { title: "Delivery report", icon: IconReceipt },
  failover: { title: "Another way", icon: IconArrowFork },
  changed: { title: "Changed", icon: IconPlayerTrackNext },
  credits: { title: "Credits", icon: IconCash },
  click: { title: "Link followed", icon: IconClick },
  reply: { title: "Answer", icon: IconMessageReply },
  callback: { title: "Your server", icon: IconWebhook },
  end: { title: "The end", icon: IconFlag },
};

/** Every step with the time since the one before it, and the reason. */
export function WhyTimeline({ steps }: { steps: readonly TimelineStep[] }) {
  return (
    <Timeline bulletSize={28} lineWidth={2} active={steps.length - 1} data-timeline>
      {steps.map(({ at, step, what, exchange }, index) => {
        const { title, icon: StepIcon } = LOOKS[step] ?? { title: step, icon: IconCheck };
        const before = steps[index - 1]?.at;
        return (
          <Timeline.Item key={`${index}-${step}`} bullet={<StepIcon size={15} aria-hidden />} data-step={step}>
            <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
              <Text fw={600} size="sm">
                {title}
              </Text>
              <Group gap={8} wrap="nowrap">
                {before !== undefined && at > before && (
                  <Text size="xs" c="dimmed">
                    + {duration(at - before)}
                  </Text>
                )}
                <TimeText at={at} size="xs" c="dimmed" />
              </Group>
            </Group>
            <Text size="sm" mt={2}>
              <ToldText text={what} />
            </Text>
            {exchange && (
              <Group mt="xs" grow>
                <CodeBlock heading="What went over the line" code={exchange} />
              </Group>
            )}
          </Timeline.Item>
        );
      })}
    </Timeline>
  );
}
