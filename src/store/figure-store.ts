import type { Counted, Figure, Grain } from "../model/figure.ts";

/** A stretch of time, read by the grain that is given; its ends are where such a stretch begins. */
export interface FigureSpan {
  grain: Grain;
  /** Epoch ms, inclusive. */
  from: number;
  /** Epoch ms, exclusive. */
  to: number;
}

/** Which of its batches somebody writes, by which one that comes again is known. */
export interface FigureWriting {
  /** One process; it writes one batch after the other. */
  writer: string;
  /** From 1 on, without gaps going back. */
  sequence: number;
  /** Epoch ms. */
  at: number;
}

export interface FigureTotal {
  what: Counted;
  channel: string;
  code: string;
  count: number;
}

export interface FigurePoint {
  /** When its stretch begins. */
  at: number;
  what: Counted;
  channel: string;
  count: number;
}

/** What happened, counted by stretches of time. No answer reads a message: what it costs depends on the span alone. */
export interface FigureStore {
  /** Adds to what is counted already, on any number of nodes at the same time. A batch that comes again changes nothing. */
  addFigures(batch: readonly Figure[], writing: FigureWriting): Promise<void>;
  sumFigures(accountId: number, span: FigureSpan): Promise<readonly FigureTotal[]>;
  /** The same by stretch and without codes, oldest first; stretches in which nothing happened are left out. */
  listFigures(accountId: number, span: FigureSpan, what: readonly Counted[]): Promise<readonly FigurePoint[]>;
  /** Removes stretches that began before a time; says how many rows went. */
  forgetFigures(accountId: number, before: number, limit: number): Promise<number>;
}
