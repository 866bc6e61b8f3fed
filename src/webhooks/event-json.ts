import { eventOf, type Callback, type Happening, type WebhookChannel } from "../model/callback.ts";
import { channelOf, eventBody } from "./event-push.ts";
import { placeholderValues } from "./placeholders.ts";
import { writeJson } from "./post-json.ts";
import { reportFacts, type TellNeeds } from "./tell.ts";

/** An event by itself, whoever is told of it and in whatever form. */
export interface EventJson {
  eventId: string;
  channel: WebhookChannel;
  event: string;
  /** Epoch milliseconds. */
  at: number;
  /** What a webhook of its channel would have as its body; of a text message's status, the whole delivery report. */
  payload: object;
}

/** An event as JSON; null where there is nothing to tell of it. */
export function eventJson(
  needs: Pick<TellNeeds, "accountOf" | "operatorOf">,
  { accountId, eventId, happening }: Callback,
): EventJson | null {
  const channel = channelOf(happening);
  const told =
    happening.kind === "status" && channel === "sms"
      ? placeholderValues(happening, reportFacts(needs, accountId, happening))
      : eventBody(happening, channel, eventId);
  if (!told) return null;
  const payload = JSON.parse(writeJson(told)) as object;
  return { eventId, channel, event: eventName(happening), at: happening.at, payload };
}

/** The event that a callback is about, by the name that people look for. */
export const eventName = (happening: Happening): string =>
  happening.kind === "status" && happening.message.channel === "sms" ? "delivery_report" : eventOf(happening);
