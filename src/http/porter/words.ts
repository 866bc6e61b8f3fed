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
/** Of what came so many bytes, which follow, have been read. */
export const READ = 9;
/** Nobody else is to be let in. */
export const SHUT = 10;

/** Where to listen, as the porter is told when it begins. */
export interface Post {
  host: string;
  port: number;
}

interface Details {
  code: string | undefined;
  address: string | undefined;
  port: number | undefined;
}

export type FromPorter =
  | { kind: "said"; words: Word[]; bytes: Uint8Array | null }
  | { kind: "listening"; address: AddressInfo }
  /** It could not listen. Errors lose their codes where threads meet. */
  | { kind: "failed"; message: string; details: Details }
  /** Nobody is let in any more, and the last has gone. */
  | { kind: "closed" };

/** So much may be on its way over, each way on each connection: beyond it whoever speaks waits until some has been read. */
export const AHEAD_MAX = 131_072;
/** How much has to be read until that is told. Half of the above, so that whoever waits is always told of something. */
export const TOLD_FROM = AHEAD_MAX / 2;
