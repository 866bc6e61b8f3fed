import type { AddressInfo } from "node:net";
import type { CertificatePair, ListenerOptions } from "../../listener/client-listener.ts";

/**
 * Protocol between the event loop and the connection thread. Each side collects the entries of one event-loop turn in a flat
 * list and posts the list as one message. An entry takes three slots: opcode, connection id, payload. One array per entry would
 * be allocated and cloned for every chunk. `Events` and `Commands` give the payload type of each opcode.
 */
export type Slot = number | string | Uint8Array | null;

export const OPENED = 0;
export const DATA = 1;
export const ENDED = 2;
export const WRITE_ACK = 3;
export const FINISHED = 4;
export const CLOSED = 5;
export const OPENED_HTTP2 = 6;

/** Connection thread to event loop. */
export interface Events {
  /** The client's address. */
  [OPENED]: string;
  /** Number of bytes received; the bytes of all entries travel beside the list, in its order. */
  [DATA]: number;
  /** The client has half-closed the connection. */
  [ENDED]: null;
  /** Number of written bytes that the kernel has taken. */
  [WRITE_ACK]: number;
  /** All bytes before END, and the end itself, have been sent. */
  [FINISHED]: null;
  [CLOSED]: null;
  /** As OPENED, of a connection that has agreed on HTTP/2 by ALPN. */
  [OPENED_HTTP2]: string;
}

export const WRITE = 0;
export const END = 1;
export const DESTROY = 2;
export const READ_ACK = 3;
export const CLOSE_SERVER = 4;

/** Event loop to connection thread. */
export interface Commands {
  [WRITE]: string | Uint8Array;
  /** Half-close after all writes. */
  [END]: null;
  [DESTROY]: null;
  /** Number of received bytes that the event loop has consumed. */
  [READ_ACK]: number;
  /** Stop listening; the connection id is not used. */
  [CLOSE_SERVER]: null;
}

export type Enqueue<Payloads> = <Opcode extends keyof Payloads>(
  opcode: Opcode,
  id: number,
  payload: Payloads[Opcode],
) => void;

export type Handlers<Payloads> = {
  readonly [Opcode in keyof Payloads]: (id: number, payload: Payloads[Opcode]) => void;
};

/** Calls the handler of each entry. The only place that trusts the types of a received list: `Enqueue` has written it. */
export function handleEntries<Payloads>(slots: readonly Slot[], handlers: Handlers<Payloads>): void {
  for (let at = 0; at < slots.length; at += 3) {
    const handle = handlers[slots[at] as keyof Payloads];
    handle(slots[at + 1] as number, slots[at + 2] as Payloads[keyof Payloads]);
  }
}

/** Listen address. */
export interface ListenOptions {
  host: string;
  port: number;
}

/** Given to the thread at its start. */
export type ThreadOptions = ListenOptions & ListenerOptions;

/** A new certificate, sent beside the lists of entries. */
export interface NewCertificate {
  certificate: CertificatePair;
}

/** Properties of a listen error. They are sent beside its message because structured clone drops them. */
interface ErrorDetails {
  code: string | undefined;
  address: string | undefined;
  port: number | undefined;
}

export type ThreadMessage =
  | { kind: "entries"; slots: Slot[]; bytes: Uint8Array | null }
  | { kind: "listening"; address: AddressInfo }
  | { kind: "listen-failed"; message: string; details: ErrorDetails }
  /** The server is closed and the last client has left. */
  | { kind: "closed" };

/** Flow-control window: bytes in transit per connection and direction. At the limit the sender pauses until an ack. */
export const UNACKED_BYTES_MAX = 131_072;
/** The receiver acks every 64 KiB, half of the window, so that a paused sender always gets an ack. */
export const ACK_EVERY_BYTES = UNACKED_BYTES_MAX / 2;
