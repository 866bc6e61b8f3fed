import type { Composition, Draft } from "../../channels/draft.ts";
import { composeSms } from "../../channels/sms/compose.ts";
import { smsDraftOf } from "../../channels/sms/read.ts";
import type { Account } from "../../model/account.ts";
import type { SendChannel } from "../../model/message.ts";
import type { PolicySubject } from "../policy/check.ts";
import { checkEachRecipient, type Prepared, type PrepareDeps } from "./prepare.ts";

/** A text of the service itself to a user who has just written. */
export interface AutomaticReply {
  account: Account;
  test: boolean;
  channel: SendChannel;
  /** The sender, bot or business number that the user wrote to. */
  sender: string;
  /** The user: digits, without plus. */
  number: string;
  text: string;
  /** Shown in the timeline. */
  reason: string;
}

/**
 * Prepares an automatic reply. It is a transaction, so the opt-out list and quiet hours do not apply, and the user's message
 * opens the session of the chat app. Its sender need not be a record, because the user's message came through it.
 */
export async function prepareReply(deps: PrepareDeps, reply: AutomaticReply): Promise<Prepared> {
  const { account, test, channel, sender, number, reason } = reply;
  const draft: Draft = {
    channel,
    sender,
    routeClass: "TRANS",
    campaignName: null,
    sendAt: null,
    recipients: [{ number, written: null, failure: null }],
  };
  const subject: PolicySubject = { account, test, draft, dryRun: false, catalog: deps.catalog.of(account.id) };
  const composition = compose(deps, reply);
  const verdicts = await checkEachRecipient(deps, subject, composition);
  const why = { policy: "opt-out", verdict: "passed", detail: reason } as const;
  return {
    ...composition,
    subject,
    targets: [],
    verdicts: verdicts.map((verdict) => ({ ...verdict, decisions: [why, ...verdict.decisions] })),
  };
}

function compose(
  { shortLinkBase, smsRules }: PrepareDeps,
  { channel, sender, number, text }: AutomaticReply,
): Composition {
  if (channel === "sms") {
    const draft = smsDraftOf({ sender, to: number, text, type: "TRANS" }, { numbers: "lenient", defaultRegion: null });
    return composeSms(draft, { template: null, textMismatch: "warn", linkBase: shortLinkBase(), rules: smsRules });
  }
  const content =
    channel === "rcs"
      ? ({ botId: sender, kind: "text", text, suggestions: [], cards: [], params: [] } as const)
      : ({ kind: "text", text } as const);
  return { shared: { content, segments: 1 }, each: [], warning: null };
}
