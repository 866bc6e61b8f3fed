import { Alert, Anchor, Group } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { Link } from "wouter";
import type { Sent } from "../api-types.ts";
import { t } from "../i18n/t.ts";
import { dayTime, ownZone } from "./time-text.tsx";

interface Props {
  sent: Sent;
  /** In the format of `datetime-local`; empty means sent at once. */
  sendAt?: string;
  campaignName?: string;
}

/** Confirms accepted messages, with their scheduled time and a link to them. */
export function SentNote({ sent, sendAt = "", campaignName = "" }: Props) {
  const [first] = sent.data;
  if (!first) return null;
  const { totalCount } = sent;
  const time = sendAt === "" ? "" : `${dayTime(new Date(sendAt).getTime())}, ${ownZone()}`;
  const isOne = totalCount === 1;
  const title =
    sendAt === ""
      ? isOne
        ? t("Accepted: 1 message queued")
        : t("Accepted: {count} messages queued", { count: totalCount })
      : isOne
        ? t("Scheduled: 1 message for {time}", { time })
        : t("Scheduled: {count} messages for {time}", { count: totalCount, time });
  return (
    <Alert color="green" icon={<IconCheck aria-hidden />} title={title} data-sent={first.messageId}>
      <Group gap="lg">
        {campaignName !== "" && (
          <Anchor
            component={Link}
            href={`/messages?campaignName=${encodeURIComponent(campaignName)}`}
            size="sm"
            c="inherit"
          >
            {t("View the campaign’s messages")}
          </Anchor>
        )}
        <Anchor component={Link} href={`/messages/${first.messageId}`} size="sm" c="inherit">
          {isOne ? t("View status") : t("View the first one’s status")}
        </Anchor>
        <Anchor component={Link} href={`/phones/${first.recipient.replace("+", "")}`} size="sm" c="inherit">
          {t("View on the phone")}
        </Anchor>
      </Group>
    </Alert>
  );
}
