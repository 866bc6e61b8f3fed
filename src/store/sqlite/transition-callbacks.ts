import type { DatabaseSync } from "node:sqlite";
import type { Callback, MessageCallback, MessageSnapshot } from "../../model/callback.ts";
import { messageIdOf, type Channel, type MessageRef } from "../../model/message.ts";
import { newCallbackOf, callbackRowOf, writeFacts } from "../callback-rows.ts";
import { UNOWNED } from "../store.ts";
import type { MessageRow } from "../tables.ts";
import { aimedAt, type AnyTransition, type CallbackPlan, type CallbackTarget } from "../transition.ts";
import { createPutCallback } from "./put-callback.ts";

/** Facts of a callback: the message after its transition. */
export interface Facts extends Pick<
  MessageRow,
  "channel" | "carrier" | "sender" | "recipient" | "credits" | "created_at" | "operator" | "circle"
> {
  /** A session message: free text without a template. */
  session: boolean;
  asked_channel: string | null;
  asked_sender: string | null;
  /** The channel that the event is about. */
  via: string;
  /** The message's own callback, as stored or as its caller knows it. */
  callback: string | MessageCallback | null;
}

type Other = readonly [
  kind: string,
  status: string | null,
  state: string,
  owner: number,
  dueAt: number,
  seq: number,
  eventId: string,
];

/** Earlier callbacks of a message to the same endpoint. */
interface Earlier {
  /** The same event was reported before. */
  isRepeated: boolean;
  /** Due time of the last waiting callback that this node does not own; null when there is none. */
  waitsUntil: number | null;
  /** Events of waiting callbacks that this node owns. */
  follows: readonly string[];
  lastSeq: number;
}

const NOTHING: Earlier = { isRepeated: false, waitsUntil: null, follows: [], lastSeq: 0 };

type StoreCallbacks = (
  transition: AnyTransition,
  facts: Facts,
  plan: CallbackPlan,
  isFirstEnd: boolean,
) => StoredCallbacks;

interface StoredCallbacks {
  /** True if this node delivers every planned callback and no earlier one of the message waits. */
  isWhole: boolean;
  /** The callbacks that this node delivers. */
  owned(): Callback[];
}

/**
 * Stores the callbacks of a transition, inside the writer's transaction. At the first final state, endpoints that get only
 * final states have no earlier callback, so the lookup is skipped.
 */
export function createStoreCallbacks(db: DatabaseSync): StoreCallbacks {
  // Without the hint SQLite reads all callbacks of the account, because the index does not cover the query.
  const find = db.prepare(
    `select kind, status, state, owner, due_at, seq, event_id from callbacks indexed by callbacks_of_message
     where account_id = ? and request_id = ? and n = ? and endpoint_id = ?`,
  );
  find.setReturnArrays(true);
  const put = createPutCallback(db);

  function lookBack(
    { accountId, requestId, n }: MessageRef,
    { endpointId, kind, status }: CallbackTarget & { endpointId: string },
    owner: number,
  ): Earlier {
    const others = find.all(accountId, requestId, n, endpointId) as unknown as readonly Other[];
    const isRepeated = others.some(([otherKind, otherStatus]) => otherKind === kind && otherStatus === status);
    const waiting = others.filter(([, , state]) => state === "waiting");
    const elsewhere = waiting.filter(([, , , otherOwner]) => otherOwner !== owner);
    return {
      isRepeated,
      waitsUntil: elsewhere.length === 0 ? null : Math.max(...elsewhere.map(([, , , , dueAt]) => dueAt)),
      follows: waiting.map(([, , , , , , eventId]) => eventId),
      lastSeq: Math.max(0, ...others.map(([, , , , , seq]) => seq)),
    };
  }

  return (transition, facts, { owner, dueAt, targets }, isFirstEnd) => {
    const message = {
      messageId: messageIdOf(transition),
      channel: facts.channel as Channel,
      recipient: facts.recipient,
      sender: facts.sender,
      credits: facts.credits,
      createdAt: facts.created_at,
      session: facts.session,
      ...(facts.operator === null ? {} : { operator: facts.operator }),
      ...(facts.circle === null ? {} : { circle: facts.circle }),
    };
    const written = writeFacts(message);
    const asked = facts.asked_channel === null ? null : asAskedFor(message, facts, facts.asked_channel as Channel);
    const own: { row: Parameters<typeof put>[0]; facts: MessageSnapshot; follows: readonly string[] }[] = [];
    let isWhole = true;
    for (const planned of targets) {
      const { channel, carrier, endOnly } = planned;
      const aimed = aimedAt(planned, planned.endpointId === null ? readOwn(facts) : undefined);
      const base =
        channel === null
          ? (asked ?? message)
          : channel === facts.channel
            ? message
            : channel === asked?.channel
              ? asked
              : null;
      if (!aimed || !base || (carrier !== null && carrier !== facts.carrier)) continue;
      if (base !== asked && isAlsoAsked(planned, targets, asked?.channel)) continue;
      const { target } = aimed;
      const reported = aimed.facts.callback ? { ...base, ...aimed.facts } : base;
      const { isRepeated, waitsUntil, follows, lastSeq } =
        isFirstEnd && endOnly ? NOTHING : lookBack(transition, target, owner);
      // After a failover a second carrier may take the message: `sent` is reported only once.
      if (isRepeated) {
        isWhole = false;
        continue;
      }
      const callback = {
        ...callbackRowOf(transition, target, facts.carrier),
        facts: reported === message ? written : writeFacts(reported),
        // Preserves the order: an earlier callback that this node does not own is still waiting.
        owner: waitsUntil === null ? owner : UNOWNED,
        due_at: waitsUntil === null ? dueAt : Math.max(dueAt, waitsUntil),
        seq: lastSeq + 1,
      };
      put(callback);
      if (callback.owner === UNOWNED || follows.length > 0) isWhole = false;
      if (callback.owner !== UNOWNED) own.push({ row: callback, facts: reported, follows });
    }
    return { isWhole, owned: () => own.map(({ row, facts: known, follows }) => newCallbackOf(row, known, follows)) };
  };
}

/** True if the endpoint also follows the requested channel: it gets the event once, for that channel. */
const isAlsoAsked = (
  planned: CallbackTarget,
  targets: readonly CallbackTarget[],
  asked: Channel | undefined,
): boolean =>
  asked !== undefined &&
  planned.endpointId !== null &&
  targets.some(
    ({ endpointId, kind, channel }) =>
      endpointId === planned.endpointId && kind === planned.kind && channel === asked && channel !== planned.channel,
  );

const readOwn = ({ callback }: Facts): MessageCallback | undefined =>
  typeof callback === "string" ? (JSON.parse(callback) as MessageCallback) : (callback ?? undefined);

/** The facts for the channel of the original request, whose endpoints also get the final state. */
const asAskedFor = (message: MessageSnapshot, { asked_sender, via }: Facts, channel: Channel): MessageSnapshot => ({
  ...message,
  channel,
  sender: asked_sender ?? message.sender,
  ...(via === channel ? {} : { via: via as Channel }),
});
