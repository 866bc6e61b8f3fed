import { COMMAND_IDS, type Command } from "../commands.ts";
import type { Pdu } from "../pdu.ts";
import { bindLayout, bindRespLayout, outbind } from "./binds.ts";
import { alertNotification, cancelSm, querySm, querySmResp, replaceSm } from "./ancillary.ts";
import type { Layout, PduOf } from "./layout.ts";
import { dataSm, messageLayout, messageIdRespLayout } from "./messages.ts";
import { submitMulti, submitMultiResp } from "./multi.ts";

/** Header only; a body is ignored. */
const bare = <Body extends Pdu>(read: (status: number) => Body): Layout<Body> => ({
  length: () => 0,
  write: () => {},
  read: (_reader, status) => read(status),
});

type BareResponse = PduOf<"cancel_sm_resp" | "replace_sm_resp" | "unbind_resp" | "enquire_link_resp" | "generic_nack">;

const bareResponse = <Name extends BareResponse["command"]>(command: Name): Layout<PduOf<Name>> =>
  bare<BareResponse>((status) => ({ command, status })) as Layout<PduOf<Name>>;

/** The mapped type makes the compiler require every command. */
const TABLE: { readonly [Name in Command]: Layout<PduOf<Name>> } = {
  submit_sm: messageLayout("submit_sm"),
  submit_sm_resp: messageIdRespLayout("submit_sm_resp"),
  deliver_sm: messageLayout("deliver_sm"),
  deliver_sm_resp: messageIdRespLayout("deliver_sm_resp"),
  data_sm: dataSm,
  data_sm_resp: messageIdRespLayout("data_sm_resp"),
  submit_multi: submitMulti,
  submit_multi_resp: submitMultiResp,
  query_sm: querySm,
  query_sm_resp: querySmResp,
  cancel_sm: cancelSm,
  cancel_sm_resp: bareResponse("cancel_sm_resp"),
  replace_sm: replaceSm,
  replace_sm_resp: bareResponse("replace_sm_resp"),
  bind_receiver: bindLayout("bind_receiver"),
  bind_receiver_resp: bindRespLayout("bind_receiver_resp"),
  bind_transmitter: bindLayout("bind_transmitter"),
  bind_transmitter_resp: bindRespLayout("bind_transmitter_resp"),
  bind_transceiver: bindLayout("bind_transceiver"),
  bind_transceiver_resp: bindRespLayout("bind_transceiver_resp"),
  outbind,
  unbind: bare(() => ({ command: "unbind" })),
  unbind_resp: bareResponse("unbind_resp"),
  enquire_link: bare(() => ({ command: "enquire_link" })),
  enquire_link_resp: bareResponse("enquire_link_resp"),
  alert_notification: alertNotification,
  generic_nack: bareResponse("generic_nack"),
};

/** A layout with its command id. */
export interface Entry extends Layout<Pdu> {
  readonly id: number;
}

/** The same layouts with a common type, for lookups by command. */
export const LAYOUTS = Object.fromEntries(
  Object.entries(TABLE).map(([command, layout]) => [command, { ...layout, id: COMMAND_IDS[command as Command] }]),
) as { readonly [Name in Command]: Entry };

const BY_ID = new Map(Object.values(LAYOUTS).map((entry) => [entry.id, entry]));

/** Undefined for ids outside SMPP 3.4. */
export const layoutOf = (commandId: number): Entry | undefined => BY_ID.get(commandId);
