import { isResponseId } from "./commands.ts";
import { layoutOf } from "./layouts/layouts.ts";
import { HEADER_LENGTH } from "./lengths.ts";
import type { Pdu } from "./pdu.ts";
import { PduReader } from "./pdu-reader.ts";
import { STATUS } from "./status.ts";

export type Decoded =
  | { readonly kind: "pdu"; readonly sequence: number; readonly pdu: Pdu }
  | {
      readonly kind: "malformed";
      readonly commandId: number;
      readonly sequence: number;
      /** command_status for the answer, if it was a request. */
      readonly status: number;
      readonly reason: string;
    };

/**
 * Decodes one PDU from `start` to `end`. Never throws: malformed input is a value. Requests must keep the field lengths of
 * the specification. Responses are read leniently (no body, missing NUL, truncated TLV), because a discarded response
 * leaves its request in doubt.
 */
export function decode(octets: Buffer, start = 0, end = octets.length): Decoded {
  if (end - start < HEADER_LENGTH) {
    const reason = `there are ${end - start} octets, and a header has ${HEADER_LENGTH}`;
    return { kind: "malformed", commandId: 0, sequence: 0, status: STATUS.ESME_RINVCMDLEN, reason };
  }
  const commandId = octets.readUInt32BE(start + 4);
  const sequence = octets.readUInt32BE(start + 12);
  const layout = layoutOf(commandId);
  if (!layout) {
    const reason = `there is no command 0x${commandId.toString(16).padStart(8, "0")}`;
    return { kind: "malformed", commandId, sequence, status: STATUS.ESME_RINVCMDID, reason };
  }
  const reader = new PduReader(octets, start + HEADER_LENGTH, end, isResponseId(commandId));
  const pdu = layout.read(reader, octets.readUInt32BE(start + 8));
  if (reader.fault) return { kind: "malformed", commandId, sequence, ...reader.fault };
  return { kind: "pdu", sequence, pdu };
}
