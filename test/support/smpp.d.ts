/** The part of the package `smpp` that tests and benches use; the package has no types. */
declare module "smpp" {
  import type { EventEmitter } from "node:events";
  import type { Server as NetServer, Socket } from "node:net";

  export interface ForeignPdu {
    command: string;
    command_status: number;
    sequence_number: number;
    /** Fields and TLVs by their names in the specification; unknown TLVs by tag. */
    [field: string]: unknown;
    response(fields?: object): ForeignPdu;
  }

  type Ask = (fields: object, onResponse?: (pdu: ForeignPdu) => void) => boolean;

  export interface ForeignSession extends EventEmitter {
    socket: Socket;
    send(pdu: ForeignPdu): boolean;
    close(onClosed?: () => void): void;
    destroy(): void;
    bind_transceiver: Ask;
    bind_transmitter: Ask;
    bind_receiver: Ask;
    submit_sm: Ask;
    deliver_sm: Ask;
    data_sm: Ask;
    query_sm: Ask;
    cancel_sm: Ask;
    replace_sm: Ask;
    submit_multi: Ask;
    unbind: Ask;
    enquire_link: Ask;
  }

  interface Package {
    createServer(options: object, onSession: (session: ForeignSession) => void): NetServer;
    connect(options: object, onConnected?: (session: ForeignSession) => void): ForeignSession;
  }

  interface Encoding {
    encode(text: string): Buffer;
    decode(octets: Buffer): string;
  }

  export const encodings: Record<"ASCII" | "LATIN1" | "UCS2", Encoding>;

  const smpp: Package;
  export default smpp;
}
