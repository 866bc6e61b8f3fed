import type { WebhookRequest } from "../../model/callback.ts";
import type { DeliveryResult } from "./transport.ts";
import type { Signing } from "../sign.ts";

/** Requests of one turn: heads as one JSON text, bodies beside it, because JSON would escape them. */
export type WireMessages = readonly [heads: string, bodies: readonly WebhookRequest["body"][]];
export type Head = readonly [
  id: number,
  method: WebhookRequest["method"],
  url: string,
  headers: WebhookRequest["headers"],
  signing: Signing | null,
];
/** A result; without field names in the common case of success. */
export type Answered = readonly [id: number, result: Failed] | readonly [id: number, ...delivered: Delivered];
type Failed = Extract<DeliveryResult, { kind: "failed" }>;
type Delivered = readonly [status: number, ms: number, excerpt: string, contentType?: string];

export const packAnswer = (id: number, result: DeliveryResult): Answered =>
  result.kind === "failed"
    ? [id, result]
    : result.contentType === undefined
      ? [id, result.status, result.ms, result.excerpt]
      : [id, result.status, result.ms, result.excerpt, result.contentType];

export function unpackAnswer(answered: Answered): DeliveryResult {
  if (answered.length === 2) return answered[1];
  const [, status, ms, excerpt, contentType] = answered;
  return { kind: "delivered", status, ms, excerpt, ...(contentType !== undefined && { contentType }) };
}
