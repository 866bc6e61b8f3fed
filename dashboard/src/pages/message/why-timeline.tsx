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
  IconTestPipe,
  IconTransferIn,
  IconWebhook,
  IconX,
  type Icon,
} from "@tabler/icons-react";
import type { TimelineStep } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { ToldText } from "../../parts/told-text.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";

interface Look {
  title: string;
  icon: Icon;
}

/** Name and icon of each step. */
const LOOKS: Readonly<Record<string, Look>> = {
  accepted: { title: t("Accepted"), icon: IconInbox },
  arrived: { title: t("Arrived"), icon: IconTransferIn },
  number: { title: t("Number parsed"), icon: IconCheck },
  policy: { title: t("Rule"), icon: IconShieldCheck },
  "passed over": { title: t("Route skipped"), icon: IconPlayerSkipForward },
  simulated: { title: t("Simulated"), icon: IconTestPipe },
  attempt: { title: t("Submitted"), icon: IconSend },
  answer: { title: t("Carrier response"), icon: IconTransferIn },
  receipt: { title: t("Delivery report"), icon: IconReceipt },
  failover: { title: t("Failover"), icon: IconArrowFork },
  changed: { title: t("Changed"), icon: IconPlayerTrackNext },
  credits: { title: t("Credits"), icon: IconCash },
  click: { title: t("Link clicked"), icon: IconClick },
  reply: { title: t("Reply"), icon: IconMessageReply },
  callback: { title: t("Your server"), icon: IconWebhook },
  end: { title: t("Final status"), icon: IconFlag },
};

const COLORS = { ok: "sun", warning: "yellow", failed: "red" } as const;

/** The timeline: each step with its reason and the time since the step before. */
export function WhyTimeline({ steps }: { steps: readonly TimelineStep[] }) {
  return (
    <Timeline bulletSize={28} lineWidth={2} active={steps.length - 1} data-timeline>
      {steps.map(({ at, step, what, exchange, outcome }, index) => {
        const { title, icon: StepIcon } = LOOKS[step] ?? { title: step, icon: IconCheck };
        const before = steps[index - 1]?.at;
        return (
          <Timeline.Item
            key={`${index}-${step}`}
            bullet={outcome === "failed" ? <IconX size={15} aria-hidden /> : <StepIcon size={15} aria-hidden />}
            color={COLORS[outcome]}
            data-step={step}
            data-outcome={outcome}
          >
            <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
              <Group gap={8}>
                <Text fw={600} size="sm">
                  {title}
                </Text>
                {outcome === "failed" && <StatusBadge status="failed" />}
              </Group>
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
                <CodeBlock heading={t("Protocol exchange")} code={exchange} />
              </Group>
            )}
          </Timeline.Item>
        );
      })}
    </Timeline>
  );
}
