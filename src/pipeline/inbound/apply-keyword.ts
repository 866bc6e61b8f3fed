import type { Inbound } from "../../carriers/carrier.ts";
import { idWithoutTime } from "../../lib/ids.ts";
import type { Account } from "../../model/account.ts";
import { OPT_OUT_COUNTED_MS } from "../../model/campaign.ts";
import { CONFIRM_MS } from "../../model/keyword-rule.ts";
import type { CampaignResultStore } from "../../store/campaign-results.ts";
import type { KeywordStore } from "../../store/keyword-users.ts";
import type { OptOutStore } from "../../store/opt-outs.ts";
import type { FoundKeyword } from "../policy/opt-out-keywords.ts";
import type { SendReply } from "./send-reply.ts";

export interface ApplyKeywordDeps {
  store: Pick<OptOutStore, "addOptOuts" | "removeOptOut" | "areOptedOut"> &
    KeywordStore &
    Pick<CampaignResultStore, "noteCampaignOptOut">;
  /** Sends an automatic reply; a second call for the same message sends nothing. */
  sendReply: SendReply;
}

/** An inbound message with a keyword. */
interface Said {
  inbound: Inbound & { id: string };
  text: string;
  keyword: FoundKeyword;
}

const NOTE_MAX = 40;
/** The text as it is shown to people; signs around the keyword may make it long. */
const noteOf = (text: string): string => text.trim().slice(0, NOTE_MAX).toWellFormed();

/**
 * Changes the opt-out list as a keyword asks, and answers the user if the account has a text for it. A repetition of the
 * message by its carrier changes nothing more and sends no second reply. Resolves to the effect.
 */
export async function applyKeyword(
  deps: ApplyKeywordDeps,
  account: Account,
  said: Said,
): Promise<"stop" | "start" | "help" | "other"> {
  const { store } = deps;
  const { inbound, keyword } = said;
  const { name, rule } = keyword;
  const { accountId, from: number, at } = inbound;
  const list = { test: inbound.test === true };
  const user = { accountId, number, ...list };
  switch (name) {
    case "stop":
      await stop(deps, account, said);
      return "stop";
    case "start":
      if (rule?.confirmReply) {
        await store.askConfirmation(user, at);
        await answer(deps, account, said, rule.confirmReply);
        return "other";
      }
      await store.removeOptOut(accountId, number, at, list);
      await answer(deps, account, said, rule?.startReply);
      return "start";
    case "confirm":
      if (!(await store.isAwaitingConfirmation(user, at - CONFIRM_MS))) return "other";
      await store.removeOptOut(accountId, number, at, list);
      await answer(deps, account, said, rule?.startReply);
      await store.endConfirmation(user);
      return "start";
    case "help":
    default:
      await answer(deps, account, said, rule?.helpReply);
      return "help";
  }
}

/** A number that is on the list already had its reply, so two automatic repliers cannot confirm to each other. */
async function stop(deps: ApplyKeywordDeps, account: Account, said: Said): Promise<void> {
  const { store } = deps;
  const { inbound, text, keyword } = said;
  const { accountId, from: number, at } = inbound;
  const list = { test: inbound.test === true };
  const user = { accountId, number, ...list };
  const reply = keyword.rule?.stopReply ?? null;
  const [wasOut = false] = await store.areOptedOut([user]);
  // Before the list changes: a repetition after a crash is known by the claim.
  const mayAnswer = reply !== null && (await claim(deps, said, wasOut));
  // After a crash before the end, the carrier repeats the message and nothing is lost.
  await store.addOptOuts([{ accountId, number, source: "reply", note: noteOf(text), createdAt: at }], list);
  if (!wasOut) await store.noteCampaignOptOut({ ...user, since: at - OPT_OUT_COUNTED_MS });
  if (account.settings.keywordRules.some(({ confirmReply }) => confirmReply !== null))
    await store.endConfirmation(user);
  if (mayAnswer) await send(deps, account, said, reply);
}

async function answer(
  deps: ApplyKeywordDeps,
  account: Account,
  said: Said,
  reply: string | null | undefined,
): Promise<void> {
  if (reply && (await claim(deps, said, false))) await send(deps, account, said, reply);
}

/** True if the message may be answered. `wasAnswered` leaves only its own repetition. */
function claim({ store }: ApplyKeywordDeps, { inbound }: Said, wasAnswered: boolean): Promise<boolean> {
  const { accountId, from: number, at } = inbound;
  const user = { accountId, number, test: inbound.test === true };
  return store.claimReply(user, { id: replyIdOf(inbound), at, onlyRepeat: wasAnswered });
}

function send({ sendReply }: ApplyKeywordDeps, account: Account, said: Said, text: string): Promise<void> {
  const { inbound, keyword } = said;
  const { channel, from, to, test = false } = inbound;
  const language = keyword.rule?.language ?? null;
  const reason = `Reply to the keyword ${noteOf(said.text)}${language === null ? "" : ` (${language})`}`;
  if (channel === "email" || account.suspended) return Promise.resolve();
  return sendReply({ account, test, channel, sender: to, number: from, text, reason }, replyIdOf(inbound));
}

/** The same for every repetition of a message: without the time, if it is ours. */
const replyIdOf = ({ id, isTimeOurs = false }: Said["inbound"]): string => (isTimeOurs ? idWithoutTime(id) : id);
