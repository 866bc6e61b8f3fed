import { Badge } from "@mantine/core";
import { IconBrandHipchat, IconMessage, IconMessages, type Icon } from "@tabler/icons-react";
import { t } from "../i18n/t.ts";

export type Channel = "sms" | "rcs" | "chatapp";

/** What people call the channels; the order in which they are always listed. */
export const CHANNELS: readonly { value: Channel; label: string; icon: Icon; color: string }[] = [
  { value: "sms", label: "SMS", icon: IconMessage, color: "sun" },
  { value: "rcs", label: "RCS", icon: IconMessages, color: "violet" },
  { value: "chatapp", label: t("Chat app"), icon: IconBrandHipchat, color: "green" },
];

export const channelName = (channel: string): string =>
  CHANNELS.find(({ value }) => value === channel)?.label ?? channel;

export function ChannelBadge({ channel }: { channel: string }) {
  const known = CHANNELS.find(({ value }) => value === channel);
  const Icon = known?.icon ?? IconMessage;
  return (
    // The colour of SMS is that of warnings, and most rows of a list would have it.
    <Badge
      color={known === undefined || known.value === "sms" ? "gray" : known.color}
      variant="light"
      leftSection={<Icon size={13} aria-hidden />}
    >
      {channelName(channel)}
    </Badge>
  );
}
