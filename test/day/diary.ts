import type { RouteClass } from "../../src/model/message.ts";

/** A span of time; `to` is null while it lasts. */
export interface Span {
  from: number;
  to: number | null;
}

/** What the customer of the day knows of a message: what was asked for and when. */
export interface Asked {
  to: string;
  type: RouteClass;
  campaign: string | null;
  askedAt: number;
  sendAt: number | null;
}

/** All that was done on a day, written down beside the service, for whoever checks afterwards what the service did. */
export class Diary {
  /** Accepted messages by their id. */
  readonly asked = new Map<string, Asked>();
  readonly optOuts = new Map<string, Span[]>();
  readonly pauses = new Map<string, Span[]>();
  readonly cancelled = new Map<string, number>();
  toppedUp = 0;
  /** Requests that were refused, by the code. */
  readonly refused = new Map<string, number>();

  refuse(code: string): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
  }
}

/** Whether a span of the list is open now. */
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
