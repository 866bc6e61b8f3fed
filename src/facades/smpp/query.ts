import { isFinal, type Message } from "../../model/message.ts";
import { cancelMessage } from "../../pipeline/cancel.ts";
import type { GroupCommit } from "../../pipeline/group-commit.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Metrics } from "../../metrics.ts";
import type { CancelSm, QuerySm, QuerySmResp } from "../../smpp/pdu.ts";
import { STATUS } from "../../smpp/status.ts";
import type { MessageStore, StoredMessage } from "../../store/store.ts";
import type { SubmittedPartStore } from "../../store/submitted-parts.ts";
import type { SmppClient } from "./client.ts";
import { readMessageId } from "./message-id.ts";
import { recipientOf } from "./read-submit.ts";
import { messageStateOf, numberOfError } from "./receipt.ts";
import { writeSmppTime } from "./time.ts";

export interface QueryDeps {
  store: Pick<MessageStore, "findMessage" | "listRequest"> & Pick<SubmittedPartStore, "findSubmittedRequest">;
  commits: Pick<GroupCommit, "move">;
  clock: Clock;
  metrics: Metrics;
}

/** The message of an id that a submit response had, if it is the client's; null if there is none. */
async function findMessage(
  { store }: QueryDeps,
  client: SmppClient,
  written: string,
  destination: string | null,
): Promise<StoredMessage | null> {
  const id = readMessageId(written);
  if (id === null) return null;
  const accountId = client.account.id;
  const requestId = (await store.findSubmittedRequest(accountId, id)) ?? id;
  const messages = await store.listRequest(accountId, requestId);
  // After submit_multi, the destination tells the messages of an id apart.
  const digits = destination?.replaceAll(/\D/g, "") ?? null;
  const named = messages.find(({ recipient }) => recipient === digits);
  const message = named ?? (digits === null || messages.length === 1 ? messages[0] : undefined);
  // System ids of an account do not see each other's messages, nor those that came by HTTP.
  return message?.callback?.credentialId === client.credentialId ? message : null;
}

/** Answers query_sm. */
export async function query(
  deps: QueryDeps,
  client: SmppClient,
  { messageId }: QuerySm,
): Promise<Omit<QuerySmResp, "command" | "tlvs">> {
  const message = await findMessage(deps, client, messageId, null);
  if (!message) return { status: STATUS.ESME_RQUERYFAIL, messageId, finalDate: "", messageState: 0, errorCode: 0 };
  const { state, doneAt, errorCode } = message;
  const finalDate = isFinal(state) && doneAt !== null ? writeSmppTime(doneAt) : "";
  return {
    status: STATUS.ESME_ROK,
    messageId,
    finalDate,
    messageState: stateForQuery(state),
    errorCode: Math.min(numberOfError(errorCode), 0xff),
  };
}

/** Scheduled messages have a state of their own only in SMPP 5.0. */
const stateForQuery = (state: Message["state"]): number => (state === "read" ? 2 : messageStateOf(state));

/** Cancels the message of an id; resolves with the status. */
export async function cancel(
  deps: QueryDeps,
  client: SmppClient,
  { messageId, destination }: Pick<CancelSm, "messageId" | "destination">,
): Promise<number> {
  const message = await findMessage(deps, client, messageId, recipientOf(destination));
  if (!message) return STATUS.ESME_RINVMSGID;
  const result = await cancelMessage(deps, message);
  return result?.cancelled === 1 ? STATUS.ESME_ROK : STATUS.ESME_RCANCELFAIL;
}
