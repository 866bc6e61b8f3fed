import type { AddressInfo } from "node:net";

/**
 * What crosses between the event loop and the porter's thread: all of one turn in one flat list. A word, the number of the
 * connection that it is about, and for some words one thing more.
 */
export type Word = number | string | Uint8Array;

/** A client has come; its address follows. */
export const OPENED = 0;
/** It has said something; how many bytes follows, and the bytes are with the list, in its order. */
export const CAME = 1;
/** It will say no more. */
export const ENDED = 2;
/** Of what was written it has taken so much, which follows. */
export const TAKEN = 3;
/** It has taken all, after the end of it. */
export const FINISHED = 4;
/** The connection is no more. */
export const CLOSED = 5;

/** What follows is to be written. */
export const WRITE = 6;
/** Nothing is to be written any more. */
export const END = 7;
/** The connection is to end now. */
export const CUT = 8;
/** Nothing is to be read for now. */
export const HOLD = 9;
/** What comes is to be read again. */
export const GO_ON = 10;
/** Of all that came, so many bytes have been worked through: they stand where a connection would. */
export const HEARD = 11;
/** Nobody else is to be let in. */
export const SHUT = 12;

/** Where to listen, as the porter is told when it begins. */
export interface Post {
  host: string;
  port: number;
}

export type FromPorter =
  | { kind: "said"; words: Word[]; bytes: Uint8Array | null }
  | { kind: "listening"; address: AddressInfo }
  /** It could not listen. Errors lose their codes where threads meet. */
  | { kind: "failed"; message: string; details: { code?: string; address?: string; port?: number } }
  /** Nobody is let in any more, and the last has gone. */
  | { kind: "closed" };

/** A client may be ahead by so much of what it was written; then it is written nothing until it has taken some. */
export const AHEAD_MAX = 131_072;
/** How much it takes until that is told. Half of the above, so that whoever waits is always told of something. */
export const TOLD_FROM = AHEAD_MAX / 2;

/** Bytes that may be on their way to the event loop. While it has more to work through, clients wait in the kernel. */
export const UNHEARD_MAX = 4_194_304;
/** How much the event loop works through until that is told: with every turn it would wake the porter for nothing. */
export const HEARD_FROM = UNHEARD_MAX / 8;
