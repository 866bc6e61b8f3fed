/** command_length, command_id, command_status and sequence_number. */
export const HEADER_LENGTH = 16;

/** The longest message_payload plus a generous body. Longer PDUs are neither written nor read. */
export const PDU_LENGTH_MAX = 65_536 + 1024;
