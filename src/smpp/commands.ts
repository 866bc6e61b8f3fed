/** Command ids of SMPP 3.4 by their names in the specification. */
export const COMMAND_IDS = {
  bind_receiver: 0x0000_0001,
  bind_transmitter: 0x0000_0002,
  query_sm: 0x0000_0003,
  submit_sm: 0x0000_0004,
  deliver_sm: 0x0000_0005,
  unbind: 0x0000_0006,
  replace_sm: 0x0000_0007,
  cancel_sm: 0x0000_0008,
  bind_transceiver: 0x0000_0009,
  outbind: 0x0000_000b,
  enquire_link: 0x0000_0015,
  submit_multi: 0x0000_0021,
  alert_notification: 0x0000_0102,
  data_sm: 0x0000_0103,
  generic_nack: 0x8000_0000,
  bind_receiver_resp: 0x8000_0001,
  bind_transmitter_resp: 0x8000_0002,
  query_sm_resp: 0x8000_0003,
  submit_sm_resp: 0x8000_0004,
  deliver_sm_resp: 0x8000_0005,
  unbind_resp: 0x8000_0006,
  replace_sm_resp: 0x8000_0007,
  cancel_sm_resp: 0x8000_0008,
  bind_transceiver_resp: 0x8000_0009,
  enquire_link_resp: 0x8000_0015,
  submit_multi_resp: 0x8000_0021,
  data_sm_resp: 0x8000_0103,
} as const;

export type Command = keyof typeof COMMAND_IDS;

export const RESPONSE_COMMANDS = {
  bind_receiver: "bind_receiver_resp",
  bind_transmitter: "bind_transmitter_resp",
  query_sm: "query_sm_resp",
  submit_sm: "submit_sm_resp",
  deliver_sm: "deliver_sm_resp",
  unbind: "unbind_resp",
  replace_sm: "replace_sm_resp",
  cancel_sm: "cancel_sm_resp",
  bind_transceiver: "bind_transceiver_resp",
  enquire_link: "enquire_link_resp",
  submit_multi: "submit_multi_resp",
  data_sm: "data_sm_resp",
} as const satisfies Partial<Record<Command, Command>>;

const NAMES = new Map<number, Command>(
  (Object.keys(COMMAND_IDS) as Command[]).map((command) => [COMMAND_IDS[command], command]),
);

/** Undefined for ids outside SMPP 3.4. */
export const commandOf = (commandId: number): Command | undefined => NAMES.get(commandId);

/** The highest bit marks a response, also of an unknown command. Responses are never answered. */
export const isResponseId = (commandId: number): boolean => commandId >= 0x8000_0000;
