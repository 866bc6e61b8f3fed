import { mailboxKey } from "../email/address.ts";
import type { SmsDraft } from "../channels/sms/read.ts";
import { routesFor } from "../pipeline/dispatch/choose-route.ts";
import { prepareEmail } from "../pipeline/accept/prepare-email.ts";
import { prepareChat } from "../pipeline/accept/prepare-chat.ts";
import { prepareRcs } from "../pipeline/accept/prepare-rcs.ts";
import { prepareSms } from "../pipeline/accept/prepare-sms.ts";
import type { Prepared, PrepareDeps } from "../pipeline/accept/prepare.ts";
import type { EncryptedTexts } from "../pipeline/accept/encrypted-text.ts";
import type { Account } from "../model/account.ts";
import type { VerifyChannel, VerifyConfigContent } from "../model/verify-config.ts";
import { composedFor, type SoleRecipient } from "../channels/draft.ts";
import type { OtpDigest } from "./code.ts";
import { minutesOf, renderOtp, renderOtpEmail } from "./render.ts";

/** The recipient of a code and its configuration. */
export interface OtpDelivery {
  account: Account;
  /** Requested with a test key. */
  test: boolean;
  /** To a test number of the configuration: by the simulator alone, and as visible as any message of its key. */
  fixed: boolean;
  number: string;
  written: string | null;
  /** The user's address; null without one. */
  email: string | null;
  /** The user's language; null for the configuration's text. */
  locale: string | null;
  config: VerifyConfigContent;
}

export interface OtpDeliveryDeps {
  preparing: PrepareDeps;
  encryptedTexts: Pick<EncryptedTexts, "encrypt">;
}

/** Prepares the message that carries a code on one channel, with encrypted content. Next: src/pipeline/accept/accept.ts */
export async function prepareOtp(
  { preparing, encryptedTexts: words }: OtpDeliveryDeps,
  delivery: OtpDelivery,
  channel: VerifyChannel,
  code: string,
): Promise<Prepared> {
  const { account, test, fixed } = delivery;
  const request = { account, test, dryRun: false, ...(fixed && { simulated: true as const }) };
  const prepared = await prepareOn(preparing, request, delivery, channel, code);
  const { content, segments } = composedFor(prepared, 0);
  return { ...prepared, shared: { content: words.encrypt(content, fixed), segments }, each: [] };
}

function prepareOn(
  preparing: PrepareDeps,
  request: { account: Account; test: boolean; simulated?: true; dryRun: boolean },
  delivery: OtpDelivery,
  channel: VerifyChannel,
  code: string,
): Promise<Prepared> {
  const { number, written, config, locale } = delivery;
  const recipients: SoleRecipient = [{ number, written, failure: null }];
  const common = { sender: channel.from, routeClass: "OTP", campaignName: null, sendAt: null } as const;
  const catalog = preparing.catalog.of(request.account.id);
  if (channel.channel === "rcs") {
    const template = channel.template ?? "";
    const params = valuesFor(catalog.named("rcsTemplate").get(template)?.content.variables, config, code);
    const draft = {
      ...common,
      channel: "rcs",
      recipients,
      templateName: template,
      content: { params },
      fallback: null,
    } as const;
    return prepareRcs(preparing, { ...request, draft });
  }
  if (channel.channel === "chatapp") {
    const template = channel.template ?? "";
    const params = valuesFor(catalog.named("chatTemplate").get(template)?.content.variables, config, code);
    const draft = {
      ...common,
      channel: "chatapp",
      kind: "template",
      recipients,
      templateName: template,
      header: null,
      params,
      ...(locale !== null && { language: locale }),
    } as const;
    return prepareChat(preparing, { ...request, draft });
  }
  if (channel.channel === "email") {
    const { email: address } = delivery;
    if (address === null) throw new Error("an e-mail needs an address");
    const rendered = renderOtpEmail(config, code, locale);
    const draft = { ...common, ...rendered, channel: "email", recipients, address, emphasis: code } as const;
    return prepareEmail(preparing, { ...request, draft });
  }
  const custom =
    channel.template === null
      ? null
      : valuesFor(catalog.named("template").get(channel.template)?.content.variables, config, code);
  const draft: SmsDraft = {
    ...common,
    channel: "sms",
    recipients: recipients.map((recipient) => ({ ...recipient, custom: null })),
    text: channel.template === null ? renderOtp(config, code, locale) : null,
    templateId: channel.template,
    custom,
    targets: null,
  };
  return prepareSms(preparing, { ...request, draft });
}

/** The values of a template: the code, and its validity in minutes if the template has a second variable. */
const valuesFor = (variables: number | undefined, { lifeSeconds }: VerifyConfigContent, code: string): string[] =>
  variables === 2 ? [code, minutesOf(lifeSeconds)] : [code];

/** The channels of a configuration that can reach the user: e-mail needs an address. */
export const usableChannels = (
  { channels }: Pick<VerifyConfigContent, "channels">,
  email: string | null,
): readonly VerifyChannel[] => channels.filter(({ channel }) => channel !== "email" || email !== null);

/**
 * The key of an address in the limits, without the address: no code is sent too often to one address under many numbers. Null
 * on other channels. In hexadecimal, because a digest ignores dashes.
 */
export const addressKey = (
  digestOf: OtpDigest,
  accountId: number,
  { channel }: Pick<VerifyChannel, "channel">,
  email: string | null,
): string | null =>
  channel === "email" && email !== null
    ? `@${digestOf(accountId, "e-mail address", Buffer.from(mailboxKey(email)).toString("hex"))}`
    : null;

/**
 * True if the limits against cost and abuse apply: the account wants them everywhere, or a channel of the configuration may
 * leave the simulator. A channel without a route counts as real, because it may get one before it is used.
 */
export function areLimitsBinding(
  { account, test, number, config }: Omit<OtpDelivery, "written" | "fixed" | "locale" | "email">,
  catalog: Prepared["subject"]["catalog"],
): boolean {
  if (account.settings.limits === "everywhere") return true;
  if (test) return false;
  return config.channels.some(({ channel, from }) => {
    const routes = routesFor(catalog, { channel, routeClass: "OTP", sender: from, recipient: number });
    return routes.length === 0 || routes.some(({ content }) => !catalog.isSimulated(content.carrier));
  });
}
