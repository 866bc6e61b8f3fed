import { RESPONSE_COMMANDS } from "./commands.ts";
import type { BindResp, QuerySmResp, Request, Response, ResponseOf, SubmitMultiResp } from "./pdu.ts";
import { NO_TLVS } from "./tlv.ts";

type ResponseFields = Partial<
  Omit<SubmitMultiResp, "command"> & Omit<QuerySmResp, "command"> & Omit<BindResp, "command">
>;

/** Creates the response to a request. The default status is ESME_ROK; an error response needs only a status. */
export function responseTo<Name extends Request["command"]>(
  asked: { readonly command: Name },
  fields?: Omit<Partial<ResponseOf<Name>>, "command">,
): ResponseOf<Name>;
export function responseTo({ command }: Pick<Request, "command">, values: ResponseFields = {}): Response {
  return BUILDERS[command](values);
}

const messageIdResp =
  (request: "submit_sm" | "deliver_sm" | "data_sm") =>
  ({ status = 0, messageId = "", tlvs = NO_TLVS }: ResponseFields): Response => ({
    command: RESPONSE_COMMANDS[request],
    status,
    messageId,
    tlvs,
  });

const bindResp =
  (request: "bind_receiver" | "bind_transmitter" | "bind_transceiver") =>
  ({ status = 0, systemId = "", tlvs = NO_TLVS }: ResponseFields): Response => ({
    command: RESPONSE_COMMANDS[request],
    status,
    systemId,
    tlvs,
  });

const bareResp =
  (request: "cancel_sm" | "replace_sm" | "unbind" | "enquire_link") =>
  ({ status = 0 }: ResponseFields): Response => ({ command: RESPONSE_COMMANDS[request], status });

const BUILDERS: { readonly [Name in Request["command"]]: (values: ResponseFields) => Response } = {
  submit_sm: messageIdResp("submit_sm"),
  deliver_sm: messageIdResp("deliver_sm"),
  data_sm: messageIdResp("data_sm"),
  bind_receiver: bindResp("bind_receiver"),
  bind_transmitter: bindResp("bind_transmitter"),
  bind_transceiver: bindResp("bind_transceiver"),
  cancel_sm: bareResp("cancel_sm"),
  replace_sm: bareResp("replace_sm"),
  unbind: bareResp("unbind"),
  enquire_link: bareResp("enquire_link"),
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
