import { defaultsIn, nullable, Type, type Infer, type Typed } from "../lib/schema.ts";
import { ROUTE_CLASSES, type State } from "./message.ts";

/** Forms in which a client receives message ids. */
const SMPP_MESSAGE_ID_FORMS = ["hex", "uuid", "decimal"] as const;
const SMPP_RECEIPT_FORMS = ["both", "text", "parameters"] as const;
/** Parameters that a receipt may have besides its text. */
const SMPP_RECEIPT_TLVS = ["receipted_message_id", "message_state", "network_error_code"] as const;
/** States that a receipt reports. */
const SMPP_RECEIPT_STATES = [
  "submitted", "delivered", "expired", "cancelled", "undelivered", "unknown", "rejected",
] as const satisfies readonly State[]; // prettier-ignore
const ALPHABETS = ["gsm7", "latin1", "ascii"] as const;
const LONG_TEXTS = ["udh8", "udh16", "sar", "payload"] as const;

/** Permissions of a client besides binding and sending. */
const SMPP_FEATURES = ["inbound", "multi", "query", "cancel", "schedule"] as const;

const SENDERS_MAX = 100;
const SENDER_MAX = 20;
const WINDOW_MAX = 1000;
const BINDS_MAX = 100;
const RATE_MAX = 100_000;
const VALIDITY_MAX_S = 30 * 86_400;
const WORD = /^[A-Za-z0-9_]{1,10}$/;
const ERROR = /^[A-Za-z0-9]{1,8}$/;
const ERRORS_MAX = 100;
const CODE_MAX = 40;

function receiptWordsFault(words: Readonly<Record<string, string>>): string | null {
  const states: readonly string[] = SMPP_RECEIPT_STATES;
  const isRight = Object.entries(words).every(([state, word]) => states.includes(state) && WORD.test(word));
  return isRight
    ? null
    : `receiptWords has words of 1 to 10 letters and digits for the states ${states.join(", ")}, such as {"undelivered": "FAILED"}.`;
}

function receiptErrorsFault(errors: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(errors);
  const isRight = entries.every(([code, error]) => code !== "" && code.length <= CODE_MAX && ERROR.test(error));
  return isRight && entries.length <= ERRORS_MAX
    ? null
    : `receiptErrors has at most ${ERRORS_MAX} codes with values of 1 to 8 letters and digits, such as {"NO_ROUTE": "068"}.`;
}

const oneOf = <const T extends readonly string[]>(values: T, description: string): Typed<T[number]> =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  );

/** Settings of a system id that binds to the SMPP server, with their defaults. */
export const smppAccessFields = {
  window: Type.Default(
    Type.Integer({
      minimum: 1,
      maximum: WINDOW_MAX,
      description: "Requests without a response per bind, in each direction. Further submits are throttled.",
    }),
    100,
  ),
  maxBinds: Type.Default(
    Type.Integer({ minimum: 1, maximum: BINDS_MAX, description: "Binds at the same time, on all nodes together." }),
    4,
  ),
  messagesPerSecond: Type.Default(
    nullable(
      Type.Integer({ minimum: 1, maximum: RATE_MAX }),
      "Submits per second on all nodes together; more are throttled. Null for no limit.",
    ),
    null,
  ),
  senders: Type.Default(
    Type.Array(Type.String({ minLength: 1, maxLength: SENDER_MAX }), {
      maxItems: SENDERS_MAX,
      description:
        "Allowed source addresses; empty allows all senders of the account. The first one is used if a submit has none.",
    }),
    [],
  ),
  defaultType: Type.Default(
    oneOf(ROUTE_CLASSES, "Route type of submits whose service_type is not TRANS, PROMO or OTP."),
    "TRANS",
  ),
  alphabet: Type.Default(oneOf(ALPHABETS, "The meaning of data_coding 0, in both directions."), "gsm7"),
  validitySeconds: Type.Default(
    nullable(
      Type.Integer({ minimum: 60, maximum: VALIDITY_MAX_S }),
      "Validity of submits that name none; null for the server's setting.",
    ),
    null,
  ),
  messageIdForm: Type.Default(oneOf(SMPP_MESSAGE_ID_FORMS, "Format of message ids."), "hex"),
  receiptForm: Type.Default(
    oneOf(SMPP_RECEIPT_FORMS, "Where receipts carry their content: text, TLVs or both."),
    "both",
  ),
  receiptWords: Type.Default(
    Type.Record(Type.String(), {
      description: `Words of \`stat\` that differ from the usual ones, by state: ${SMPP_RECEIPT_STATES.join(", ")}.`,
      check: receiptWordsFault,
    }),
    {},
  ),
  receiptErrors: Type.Default(
    Type.Record(Type.String(), {
      description: "Values of `err` by error code, the carrier's or ours, that differ from the usual ones.",
      check: receiptErrorsFault,
    }),
    {},
  ),
  receiptTlvs: Type.Default(
    Type.Array(oneOf(SMPP_RECEIPT_TLVS, "A parameter."), {
      maxItems: SMPP_RECEIPT_TLVS.length,
      description: "TLVs of receipts, where they have any.",
    }),
    [...SMPP_RECEIPT_TLVS],
  ),
  intermediateReceipts: Type.Default(
    Type.Boolean({ description: "Send ENROUTE to submits that ask for intermediate receipts." }),
    true,
  ),
  longMessages: Type.Default(oneOf(LONG_TEXTS, "Form of long texts from phones."), "udh8"),
  features: Type.Default(
    Type.Array(oneOf(SMPP_FEATURES, "A feature."), {
      maxItems: SMPP_FEATURES.length,
      description:
        "Permitted features: texts from phones (inbound), submit_multi, query_sm, cancel_sm, and scheduled delivery.",
    }),
    [...SMPP_FEATURES],
  ),
  requireTls: Type.Default(Type.Boolean({ description: "Refuse binds without TLS." }), false),
  requireClientCertificate: Type.Default(
    Type.Boolean({ description: "Refuse binds without a client certificate of the server's authority." }),
    false,
  ),
} as const;

const smppAccess = Type.Object(smppAccessFields, { title: "SmppAccess" });

export type SmppAccess = Infer<typeof smppAccess>;

const DEFAULTS = defaultsIn(smppAccessFields) as SmppAccess;

/** The stored settings of a system id. Those that it lacks have their defaults. */
export const smppAccessOf = (stored: Readonly<Record<string, unknown>>): SmppAccess => ({
  ...DEFAULTS,
  ...(stored as Partial<SmppAccess>),
});
export type SmppFeature = (typeof SMPP_FEATURES)[number];
