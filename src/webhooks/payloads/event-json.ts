import { eventOf, type Callback, type CustomerEvent, type EventChannel } from "../../model/callback.ts";
import { channelOf, eventBody } from "./event.ts";
import { placeholderValues } from "./placeholders.ts";
import { writeJson } from "../post-json.ts";
import { reportFacts, type DeliverDeps } from "../deliver.ts";

/** An event, independent of endpoint and format. */
export interface EventJson {
  eventId: string;
  channel: EventChannel;
  event: string;
  /** Epoch milliseconds. */
  at: number;
  /** Body as sent to a webhook of the channel; for an SMS status, the whole delivery report. */
  payload: object;
}

/** An event as JSON; null if the event has no payload. */
export function eventJson(
  deps: Pick<DeliverDeps, "accountOf" | "operatorOf">,
  { accountId, eventId, happening }: Callback,
): EventJson | null {
  const channel = channelOf(happening);
  const body =
    happening.kind === "status" && channel === "sms"
      ? placeholderValues(happening, reportFacts(deps, accountId, happening))
      : eventBody(happening, channel, eventId);
  if (!body) return null;
  const payload = JSON.parse(writeJson(body)) as object;
  return { eventId, channel, event: eventName(happening), at: happening.at, payload };
}

/** The public name of a callback's event. */
export const eventName = (happening: CustomerEvent): string => eventOf(happening.kind, channelOf(happening));
