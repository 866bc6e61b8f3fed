import { Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import { RecordTable } from "../../parts/record/record-table.tsx";
import type { Webhook } from "./endpoint.ts";
import { useEndpointParts } from "./use-endpoint-parts.tsx";
import { WEBHOOK_PATH, webhookKind } from "./webhook-kind.tsx";

interface Told {
  /** Absent if the section is part of a larger page. */
  title?: string;
  lead: string;
}

/** Verifications are a subject of webhooks like a channel, independent of the channel that delivers the code. */
type ToldChannel = SendChannel | "verify";

const TOLD: Readonly<Record<ToldChannel, Told>> = {
  rcs: {
    title: t("RCS webhook"),
    lead: t("Your endpoints that receive incoming RCS messages and RCS message status."),
  },
  chatapp: {
    title: t("Chat app webhook"),
    lead: t("Your endpoints that receive incoming chat-app messages and chat-app message status."),
  },
  sms: {
    title: t("SMS webhook"),
    lead: t(
      "Your endpoints that receive incoming SMS, delivery reports and short-link clicks. Reports with your own fields have their own page.",
    ),
  },
  verify: {
    lead: t(
      "Your endpoints that receive verification status: sent, verified, expired or failed. The code itself is never included.",
    ),
  },
};

function Webhooks({ channel }: { channel: ToldChannel }) {
  const { parts, dialog } = useEndpointParts<Webhook>(WEBHOOK_PATH);
  const { title, lead } = TOLD[channel];
  return (
    <>
      {title === undefined && (
        <Text size="sm" c="dimmed" mb="md">
          {lead}
        </Text>
      )}
      <RecordTable kind={{ ...webhookKind(channel), ...parts }} {...(title === undefined ? {} : { title, lead })} />
      {dialog}
    </>
  );
}

export const RcsWebhooks = () => <Webhooks channel="rcs" />;
export const ChatWebhooks = () => <Webhooks channel="chatapp" />;
export const SmsWebhooks = () => <Webhooks channel="sms" />;
export const VerifyWebhooks = () => <Webhooks channel="verify" />;
