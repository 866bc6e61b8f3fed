import { Button } from "@mantine/core";
import { IconCopy, IconRepeat } from "@tabler/icons-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { get, type Page } from "../../api.ts";
import type { Message, Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { EMPTY, KINDS, type Draft } from "../compose/kinds.ts";
import { prefill } from "../compose/prefill.ts";
import { kindFor } from "../templates/sendable.ts";

/** Opens the composer with the same content, for the same or another recipient. Sends nothing. */
export function Again({ message }: { message: Message }) {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);

  async function compose(to: string): Promise<void> {
    setBusy(true);
    const kind = await kindOf(message).finally(() => setBusy(false));
    const { path, state } = prefill(kind, { ...draftOf(message), to });
    navigate(path, { state });
  }

  // A text that is not stored cannot be sent again.
  if (message.erased) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRepeat size={16} aria-hidden />}
        loading={busy}
        onClick={() => void compose(message.recipient)}
      >
        {t("Send again")}
      </Button>
      <Button
        variant="default"
        leftSection={<IconCopy size={16} aria-hidden />}
        loading={busy}
        onClick={() => void compose("")}
      >
        {t("Similar message")}
      </Button>
    </>
  );
}

function draftOf({ channel, sender, text, type, templateName, campaignName }: Message): Draft {
  const common = { ...EMPTY, type, campaignName: campaignName ?? "" };
  if (channel === "sms") return { ...common, sender, text };
  const from = channel === "rcs" ? { botId: sender } : { from: sender };
  return { ...common, ...from, templateName: templateName ?? "" };
}

/** The kind of the message's template. If the template is gone, the first kind of the channel. */
async function kindOf({ channel, type, templateName }: Message): Promise<string> {
  if (channel === "sms") return type === "OTP" ? "sms-otp" : "sms-single";
  const { data } = await get<Page<Template>>("/api/templates", { channel, limit: 200 });
  const template = data.find(({ name }) => name === templateName);
  return template ? kindFor(template).id : (KINDS.find((kind) => kind.channel === channel)?.id ?? "");
}
