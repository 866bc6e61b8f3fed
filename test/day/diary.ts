import type { RouteClass } from "../../src/model/message.ts";

/** A time span; `to` is null while it is open. */
export interface Span {
  from: number;
  to: number | null;
}

/** A send request as the customer made it. */
export interface SendRecord {
  to: string;
  type: RouteClass;
  campaign: string | null;
  requestedAt: number;
  sendAt: number | null;
}

/** Independent record of all actions of the simulated day, for the audit afterwards. */
export class Diary {
  /** Accepted messages by id. */
  readonly sent = new Map<string, SendRecord>();
  readonly optOuts = new Map<string, Span[]>();
  readonly pauses = new Map<string, Span[]>();
  readonly cancelled = new Map<string, number>();
  toppedUp = 0;
  /** Refused requests by error code. */
  readonly refused = new Map<string, number>();

  refuse(code: string): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }
}

export const isWithin = (spans: readonly Span[] | undefined): boolean => spans?.at(-1)?.to === null;

export function begin(spans: Map<string, Span[]>, name: string, at: number): void {
  const list = spans.get(name) ?? [];
  spans.set(name, list);
  list.push({ from: at, to: null });
}

export function end(spans: ReadonlyMap<string, Span[]>, name: string, at: number): void {
  const last = spans.get(name)?.at(-1);
  if (last) last.to ??= at;
}
