import { Badge } from "@mantine/core";
import { IconBrandHipchat, IconMessage, IconMessages, type Icon } from "@tabler/icons-react";

export type Channel = "sms" | "rcs" | "chatapp";

/** What people call the channels; the order in which they are always listed. */
export const CHANNELS: readonly { value: Channel; label: string; icon: Icon; color: string }[] = [
  { value: "sms", label: "SMS", icon: IconMessage, color: "sun" },
  { value: "rcs", label: "RCS", icon: IconMessages, color: "violet" },
  { value: "chatapp", label: "Chat app", icon: IconBrandHipchat, color: "green" },
];

export const channelName = (channel: string): string =>
  CHANNELS.find(({ value }) => value === channel)?.label ?? channel;

export function ChannelBadge({ channel }: { channel: string }) {
  const known = CHANNELS.find(({ value }) => value === channel);
  const Icon = known?.icon ?? IconMessage;
  return (
    <Badge color={known?.color ?? "gray"} variant="light" leftSection={<Icon size={13} aria-hidden />}>
      {channelName(channel)}
    </Badge>
  );
}
