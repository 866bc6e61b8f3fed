import { RESPONSE_COMMANDS } from "./commands.ts";
import type { BindResp, QuerySmResp, Request, Response, ResponseOf, SubmitMultiResp } from "./pdu.ts";
import { NO_TLVS } from "./tlv.ts";

type Given = Partial<Omit<SubmitMultiResp, "command"> & Omit<QuerySmResp, "command"> & Omit<BindResp, "command">>;

/** The response to a request. Without a status it says that all is well; a refusal needs nothing but one. */
export function responseTo<Name extends Request["command"]>(
  asked: { readonly command: Name },
  fields?: Omit<Partial<ResponseOf<Name>>, "command">,
): ResponseOf<Name>;
export function responseTo({ command }: Pick<Request, "command">, given: Given = {}): Response {
  return BUILDERS[command](given);
}

const taken =
  (request: "submit_sm" | "deliver_sm" | "data_sm") =>
  ({ status = 0, messageId = "", tlvs = NO_TLVS }: Given): Response => ({
    command: RESPONSE_COMMANDS[request],
    status,
    messageId,
    tlvs,
  });

const bound =
  (request: "bind_receiver" | "bind_transmitter" | "bind_transceiver") =>
  ({ status = 0, systemId = "", tlvs = NO_TLVS }: Given): Response => ({
    command: RESPONSE_COMMANDS[request],
    status,
    systemId,
    tlvs,
  });

const bare =
  (request: "cancel_sm" | "replace_sm" | "unbind" | "enquire_link") =>
  ({ status = 0 }: Given): Response => ({ command: RESPONSE_COMMANDS[request], status });

const BUILDERS: { readonly [Name in Request["command"]]: (given: Given) => Response } = {
  submit_sm: taken("submit_sm"),
  deliver_sm: taken("deliver_sm"),
  data_sm: taken("data_sm"),
  bind_receiver: bound("bind_receiver"),
  bind_transmitter: bound("bind_transmitter"),
  bind_transceiver: bound("bind_transceiver"),
  cancel_sm: bare("cancel_sm"),
  replace_sm: bare("replace_sm"),
  unbind: bare("unbind"),
  enquire_link: bare("enquire_link"),
  query_sm: ({ status = 0, messageId = "", finalDate = "", messageState = 0, errorCode = 0, tlvs = NO_TLVS }) => ({
    command: "query_sm_resp",
    status,
    messageId,
    finalDate,
    messageState,
    errorCode,
    tlvs,
  }),
  submit_multi: ({ status = 0, messageId = "", failures = [], tlvs = NO_TLVS }) => ({
    command: "submit_multi_resp",
    status,
    messageId,
    failures,
    tlvs,
  }),
};
