import type { MessageRef, State } from "../../src/model/message.ts";
import type { MessageStore } from "../../src/store/store.ts";
import type { AnyTransition, Transition, TransitionResult } from "../../src/store/transition.ts";

/** Fields of any kind of transition, with the state that it leads to. */
export type TransitionFields = Partial<Omit<AnyTransition, "kind" | "to" | "attempt" | "channel" | "failoverAt">> &
  MessageRef & { to: State; attempt?: boolean; failoverAt?: number | null };

/**
 * The transition that leads to a state, from whatever fields a test cares about. Production code names the kind itself; here
 * a test may leave out fields that a kind requires.
 */
export function transitionTo({ to, attempt, channelIs, carriedBy, ...fields }: TransitionFields): Transition {
  const conditions = {
    ...(channelIs === undefined ? {} : { channelIs }),
    ...(carriedBy === undefined ? {} : { carriedBy }),
  };
  const any = { ...fields, ...conditions, to };
  switch (to) {
    case "submitting":
      if (attempt) return { ...fields, kind: "submitting" } as Transition;
      return { ...any, kind: "deferred" } as Transition;
    case "submitted":
      return { ...fields, kind: "submitted", ...(channelIs === undefined ? {} : { channel: channelIs }) } as Transition;
    case "accepted":
    case "scheduled":
      if (fields.becomes || fields.tried) return { ...fields, ...conditions, kind: "rerouted" } as Transition;
      return { ...any, ...(attempt ? { attempt } : {}), kind: "deferred" } as Transition;
    case "delivered":
    case "read":
      return { ...any, kind: "delivered" } as Transition;
    case "enroute":
      return { ...any, kind: "reported" } as Transition;
    case "rejected":
    case "undelivered":
    case "expired":
    case "cancelled":
    case "unknown":
    default:
      return { ...any, kind: "ended" } as Transition;
  }
}

export const transitionAll = (
  store: Pick<MessageStore, "transition">,
  batch: readonly TransitionFields[],
): Promise<readonly (TransitionResult | Error)[]> => store.transition(batch.map(transitionTo));
