import type { SmsDraft } from "../channels/sms/read.ts";
import { isSimulated, routesFor } from "../messages/choose-route.ts";
import { prepareChat } from "../messages/prepare-chat.ts";
import { prepareRcs } from "../messages/prepare-rcs.ts";
import { prepareSms } from "../messages/prepare-sms.ts";
import type { Prepared, PrepareNeeds } from "../messages/prepare.ts";
import type { SealedWords } from "../messages/sealed-words.ts";
import type { Account } from "../model/account.ts";
import type { VerifyChannel, VerifyConfigContent } from "../model/verify-config.ts";
import { composedFor, type SoleRecipient } from "../channels/draft.ts";
import { minutesOf, renderOtp } from "./render.ts";

/** Whom a code is brought to. */
export interface Bringing {
  account: Account;
  /** By the simulator alone. */
  test: boolean;
  number: string;
  written: string | null;
  config: VerifyConfigContent;
}

export interface BringNeeds {
  preparing: PrepareNeeds;
  /** Seals texts until a carrier has them. */
  words: Pick<SealedWords, "seal">;
}

/** The message that brings a code by one channel, prepared as any other, with its words sealed. Next: src/messages/accept.ts */
export async function prepareOtp(
  { preparing, words }: BringNeeds,
  bringing: Bringing,
  way: VerifyChannel,
  code: string,
): Promise<Prepared> {
  const { account, test } = bringing;
  const request = { account, test, dryRun: false };
  const prepared = await prepareBy(preparing, request, bringing, way, code);
  const { content, segments } = composedFor(prepared, 0);
  return { ...prepared, shared: { content: words.seal(content), segments }, each: [] };
}

function prepareBy(
  preparing: PrepareNeeds,
  request: { account: Account; test: boolean; dryRun: boolean },
  bringing: Bringing,
  way: VerifyChannel,
  code: string,
): Promise<Prepared> {
  const { number, written, config } = bringing;
  const recipients: SoleRecipient = [{ number, written, failure: null }];
  const common = { sender: way.from, routeClass: "OTP", campaignName: null, sendAt: null } as const;
  const catalog = preparing.catalog.of(request.account.id);
  if (way.channel === "rcs") {
    const template = way.template ?? "";
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
  if (way.channel === "chatapp") {
    const template = way.template ?? "";
    const params = valuesFor(catalog.named("chatTemplate").get(template)?.content.variables, config, code);
    const draft = {
      ...common,
      channel: "chatapp",
      kind: "template",
      recipients,
      templateName: template,
      header: null,
      params,
    } as const;
    return prepareChat(preparing, { ...request, draft });
  }
  const custom =
    way.template === null
      ? null
      : valuesFor(catalog.named("template").get(way.template)?.content.variables, config, code);
  const draft: SmsDraft = {
    ...common,
    channel: "sms",
    recipients: recipients.map((recipient) => ({ ...recipient, custom: null })),
    text: way.template === null ? renderOtp(config, code) : null,
    templateId: way.template,
    custom,
    targets: null,
  };
  return prepareSms(preparing, { ...request, draft });
}

/** A template takes the code, and how long it is valid where it has room for two. */
const valuesFor = (variables: number | undefined, { lifeSeconds }: VerifyConfigContent, code: string): string[] =>
  variables === 2 ? [code, minutesOf(lifeSeconds)] : [code];

/**
 * Whether limits that guard money and people refuse here: wherever the account wants them to, and where any channel of the
 * configuration may leave the simulator. One without a route counts as real, because it may have one when its turn comes.
 */
export function isBinding(
  { account, test, number, config }: Omit<Bringing, "written">,
  catalog: Prepared["sending"]["catalog"],
): boolean {
  if (account.settings.limits === "everywhere") return true;
  if (test) return false;
  return config.channels.some(({ channel, from }) => {
    const routes = routesFor(catalog, { channel, routeClass: "OTP", sender: from, recipient: number });
    return routes.length === 0 || routes.some(({ content }) => !isSimulated(catalog, content.carrier));
  });
}
