/** Overrides the meaning of a command_status for one carrier. */
export type StatusPolicy = Readonly<Record<string, "retry" | "refuse" | "carrier">>;

/** Meaning of a submit_sm_resp by its command_status. */
export type SubmitClass =
  | { kind: "taken" }
  /**
   * Temporary. Throttling reduces the rate of the connection, a full queue pauses it, other causes concern this message.
   */
  | {
      kind: "busy";
      cause: "throttled" | "queue full" | "trouble";
      retryAfterMs: number;
      code: string;
      description: string;
    }
  /** Permanent. `alarm` if our settings are wrong, so that every message will fail. */
  | { kind: "refused"; fault: "message" | "carrier"; alarm: boolean; code: string; description: string }
  /** The session is in another state than expected: rebind and submit again. */
  | { kind: "session"; code: string; description: string };

/** Meaning of a bind response by its command_status. */
export type BindClass =
  | { kind: "bound" }
  | {
      kind: "refused";
      cause: "credentials" | "already bound" | "trouble" | "settings";
      /** True if an operator must act first. */
      alarm: boolean;
      /** Initial wait before the next attempt; it doubles up to the maximum. */
      retryAfterMs: number;
      retryAfterMaxMs: number;
      code: string;
      description: string;
    };

type Kind = "message" | "carrier" | "settings" | "session" | "throttled" | "queue full" | "trouble";

const STATUSES: Readonly<Record<number, readonly [Kind, string]>> = {
  0x01: ["carrier", "The carrier does not take a message of this length"],
  0x02: ["carrier", "The carrier could not read what was sent to it"],
  0x03: ["settings", "The carrier does not know this command"],
  0x04: ["session", "The carrier does not take this command in the state its bind is in"],
  0x05: ["carrier", "The carrier says that this account is bound already"],
  0x06: ["settings", "The carrier does not take this priority"],
  0x07: ["settings", "The carrier does not take this wish for receipts"],
  0x08: ["trouble", "The carrier has an error of its own"],
  0x0a: ["carrier", "The carrier does not take this sender"],
  0x0b: ["message", "The carrier does not take this recipient's number"],
  0x0c: ["carrier", "The carrier does not know this message id"],
  0x0d: ["carrier", "The carrier refused the bind"],
  0x0e: ["carrier", "The carrier does not take this password"],
  0x0f: ["carrier", "The carrier does not know this system id"],
  0x11: ["carrier", "The carrier could not cancel the message"],
  0x13: ["carrier", "The carrier could not replace the message"],
  0x14: ["queue full", "The carrier's queue is full"],
  0x15: ["settings", "The carrier does not take this service type"],
  0x33: ["carrier", "The carrier does not take so many recipients"],
  0x34: ["carrier", "The carrier does not know this list of recipients"],
  0x40: ["carrier", "The carrier does not take this kind of recipient"],
  0x42: ["settings", "The carrier does not take messages that replace others"],
  0x43: ["settings", "The carrier does not take this esm_class"],
  0x44: ["carrier", "The carrier does not take lists of recipients"],
  0x45: ["carrier", "The carrier refused the message and does not say why"],
  0x48: ["settings", "The carrier does not take this type of number for the sender"],
  0x49: ["settings", "The carrier does not take this numbering plan for the sender"],
  0x50: ["settings", "The carrier does not take this type of number for the recipient"],
  0x51: ["settings", "The carrier does not take this numbering plan for the recipient"],
  0x53: ["settings", "The carrier does not take this system type"],
  0x54: ["settings", "The carrier does not take this wish to replace a message"],
  0x55: ["carrier", "The carrier does not take this number of messages"],
  0x58: ["throttled", "The carrier was sent more than the contract allows"],
  0x61: ["settings", "The carrier does not take this time of delivery"],
  0x62: ["settings", "The carrier does not take this validity"],
  0x63: ["settings", "The carrier does not know this predefined message"],
  0x64: ["trouble", "The carrier cannot take the message for the moment"],
  0x65: ["carrier", "The carrier cannot take the message at all"],
  0x66: ["carrier", "The carrier rejected the message"],
  0x67: ["carrier", "The carrier could not look the message up"],
  0xc0: ["settings", "The carrier could not read the parameters of the message"],
  0xc1: ["settings", "The carrier does not allow one of the parameters of the message"],
  0xc2: ["settings", "The carrier does not take a parameter of this length"],
  0xc3: ["settings", "The carrier misses a parameter that it needs"],
  0xc4: ["settings", "The carrier does not take the value of a parameter"],
  0xfe: ["carrier", "The carrier could not deliver the message"],
  0xff: ["carrier", "The carrier has an error that it does not know"],
  0x100: ["settings", "The carrier has not opened this service type for the account"],
  0x101: ["carrier", "The carrier prohibits this"],
  0x102: ["settings", "The carrier does not have this service type now"],
  0x103: ["settings", "The carrier denies this service type"],
  0x104: ["settings", "The carrier does not take this data coding"],
  0x105: ["settings", "The carrier does not take this part of the sender's phone"],
  0x106: ["settings", "The carrier does not take this part of the recipient's phone"],
};

const RETRY_AFTER_MS = { throttled: 1000, "queue full": 5000, trouble: 5000 };

/** Format of carrier manuals, so that it can be searched for. */
export const codeOf = (status: number): string => `0x${(status >>> 0).toString(16).toUpperCase().padStart(8, "0")}`;

/** One sentence for every status. */
const sentenceFor = (status: number): string =>
  STATUSES[status]?.[1] ?? `The carrier refused the message with a code of its own, ${codeOf(status)}`;

/**
 * Classifies a submit response. Ambiguous codes count as the carrier's fault, so that another carrier is tried. The policy
 * overrides this with keys such as "0x45".
 */
export function classifySubmit(status: number, policy: StatusPolicy = {}): SubmitClass {
  if (status === 0) return { kind: "taken" };
  const code = codeOf(status);
  const description = sentenceFor(status);
  const known = STATUSES[status]?.[0] ?? "carrier";
  const kind = kindBy(policyFor(status, policy), known);
  if (kind === "session") return { kind, code, description };
  if (kind === "throttled" || kind === "queue full" || kind === "trouble")
    return { kind: "busy", cause: kind, retryAfterMs: RETRY_AFTER_MS[kind], code, description };
  return {
    kind: "refused",
    fault: kind === "message" ? "message" : "carrier",
    alarm: kind === "settings",
    code,
    description,
  };
}

function kindBy(wish: StatusPolicy[string] | null, known: Kind): Kind {
  if (wish === null) return known;
  if (wish === "refuse") return "message";
  if (wish === "carrier") return "carrier";
  return known === "throttled" || known === "queue full" ? known : "trouble";
}

/** A key is the number in hex or decimal, in any case and with any leading zeros. */
function policyFor(status: number, policy: StatusPolicy): StatusPolicy[string] | null {
  for (const [key, wish] of Object.entries(policy)) if (Number(key) === status) return wish;
  return null;
}

const MINUTE_MS = 60_000;
const CREDENTIALS = new Set([0x0d, 0x0e, 0x0f]);
const TROUBLE = new Set([0x04, 0x08, 0x14, 0x58, 0x64, 0xff]);

/**
 * Classifies a bind response. Carriers lock accounts after repeated wrong credentials, so these are retried seldom and
 * raise an alarm. ESME_RALYBND means that the carrier has not yet ended an old session.
 */
export function classifyBind(status: number): BindClass {
  if (status === 0) return { kind: "bound" };
  const code = codeOf(status);
  const refused = { kind: "refused", code, description: bindDescription(status) } as const;
  if (status === 0x05)
    return {
      ...refused,
      cause: "already bound",
      alarm: false,
      retryAfterMs: MINUTE_MS / 2,
      retryAfterMaxMs: MINUTE_MS,
    };
  if (TROUBLE.has(status))
    return { ...refused, cause: "trouble", alarm: false, retryAfterMs: 1000, retryAfterMaxMs: MINUTE_MS };
  const cause = CREDENTIALS.has(status) ? "credentials" : "settings";
  return { ...refused, cause, alarm: true, retryAfterMs: MINUTE_MS, retryAfterMaxMs: 15 * MINUTE_MS };
}

function bindDescription(status: number): string {
  if (status === 0x0d)
    return "The carrier refused the bind: check system id, password and the addresses it may come from";
  if (status === 0x58) return "The carrier was asked to bind too often";
  return STATUSES[status]?.[1] ?? `The carrier refused the bind with a code of its own, ${codeOf(status)}`;
}

/** Wait before the next bind after `refusals` in a row; `random` (0 to 1) adds jitter between nodes. */
export function bindWaitMs(
  { retryAfterMs, retryAfterMaxMs }: Pick<Extract<BindClass, { kind: "refused" }>, "retryAfterMs" | "retryAfterMaxMs">,
  refusals: number,
  random: number,
): number {
  const longest = Math.min(retryAfterMaxMs, retryAfterMs * 2 ** Math.max(1, Math.min(refusals, 20)));
  return Math.round(retryAfterMs + (longest - retryAfterMs) * random);
}
