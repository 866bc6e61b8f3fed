import { Badge } from "@mantine/core";
import { IconBrandHipchat, IconMail, IconMessage, IconMessages, type Icon } from "@tabler/icons-react";
import { t } from "../i18n/t.ts";

/** Channels with a send endpoint of their own. */
export type SendChannel = "sms" | "rcs" | "chatapp";
/** E-mail delivers one-time passwords only. */
export type Channel = SendChannel | "email";

interface Named<C extends Channel> {
  value: C;
  label: string;
  icon: Icon;
  color: string;
}

/** Names of the channels, in the order of every list. */
export const SEND_CHANNELS: readonly Named<SendChannel>[] = [
  { value: "sms", label: "SMS", icon: IconMessage, color: "sun" },
  { value: "rcs", label: "RCS", icon: IconMessages, color: "violet" },
  { value: "chatapp", label: t("Chat app"), icon: IconBrandHipchat, color: "green" },
];

export const CHANNELS: readonly Named<Channel>[] = [
  ...SEND_CHANNELS,
  { value: "email", label: t("E-mail"), icon: IconMail, color: "blue" },
];

export const channelName = (channel: string): string =>
  CHANNELS.find(({ value }) => value === channel)?.label ?? channel;

export function ChannelBadge({ channel }: { channel: string }) {
  const known = CHANNELS.find(({ value }) => value === channel);
  const Icon = known?.icon ?? IconMessage;
  return (
    // SMS has no colour: its yellow would look like a warning on most rows.
    <Badge
      color={known === undefined || known.value === "sms" ? "gray" : known.color}
      variant="light"
      leftSection={<Icon size={13} aria-hidden />}
    >
      {channelName(channel)}
    </Badge>
  );
}
