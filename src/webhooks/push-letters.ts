import type { Push } from "../model/callback.ts";
import type { PushResult } from "./push.ts";
import type { Signing } from "./sign.ts";

/** The pushes of one turn: what each of them is besides its body, as JSON text, and their bodies, which would only be escaped in it. */
export type Letters = readonly [heads: string, bodies: readonly Push["body"][]];
export type Head = readonly [
  id: number,
  method: Push["method"],
  url: string,
  headers: Push["headers"],
  signing: Signing | null,
];
/** What became of a push; without names where all went well, as it mostly does. */
export type Answered = readonly [id: number, result: Failed] | readonly [id: number, ...delivered: Delivered];
type Failed = Extract<PushResult, { kind: "failed" }>;
type Delivered = readonly [status: number, ms: number, excerpt: string];

export const packAnswer = (id: number, result: PushResult): Answered =>
  result.kind === "failed" ? [id, result] : [id, result.status, result.ms, result.excerpt];

export function unpackAnswer(answered: Answered): PushResult {
  if (answered.length === 2) return answered[1];
  const [, status, ms, excerpt] = answered;
  return { kind: "delivered", status, ms, excerpt };
}
