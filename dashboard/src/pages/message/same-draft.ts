import { get, type Page } from "../../api.ts";
import type { Message, Template } from "../../api-types.ts";
import { EMPTY, KINDS, type Draft } from "../compose/kinds.ts";
import { prefill, type Prefilled } from "../compose/prefill.ts";
import { kindFor } from "../templates/sendable.ts";

/** The composer's address and draft for the content of a message. */
export async function sameDraft(message: Message, to: string): Promise<{ path: string; state: Prefilled }> {
  return prefill(await kindOf(message), { ...draftOf(message), to });
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
