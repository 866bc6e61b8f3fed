import type { RouteClass, SendChannel } from "./message.ts";

/** Campaigns: one message to every recipient of an audience. */

export const CAMPAIGN_STATES = ["draft", "scheduled", "running", "paused", "finished", "cancelled"] as const;
export type CampaignState = (typeof CAMPAIGN_STATES)[number];

/** One-time passwords go to one person who waits for them, never to an audience. */
export const CAMPAIGN_TYPES = ["TRANS", "PROMO"] as const satisfies readonly RouteClass[];
type CampaignType = (typeof CAMPAIGN_TYPES)[number];

/** The message of a campaign: a text, a template with `custom`, or `ways`. */
export interface CampaignMessage {
  type: CampaignType;
  /** With ways, the sender of the first one. */
  sender: string;
  /** Text with the columns of the audience as placeholders: `{{first name}}`. */
  text: string | null;
  templateId: string | null;
  /** Values of the template's variables, each a text with columns as placeholders. */
  custom: readonly string[] | null;
  /** Links that are shortened in the text, in the order of its tokens. */
  targets: readonly string[] | null;
  ways: readonly CampaignWay[] | null;
  /** The wait for a delivery by one way before the next one; null without ways. */
  moveOnAfterSeconds: number | null;
}

/** A channel with its content, in the fields of a way of `POST /v1/messages`. Texts have columns as placeholders. */
export interface CampaignWay {
  readonly channel: SendChannel;
  readonly [field: string]: unknown;
}

/** The zone of a window that is open by each recipient's own time. */
export const RECIPIENT_ZONE = "recipient";

/** Time of day in which recipients are fed, "HH:MM" in a time zone or `RECIPIENT_ZONE`, also across midnight. */
export interface SendWindow {
  from: string;
  to: string;
  zone: string;
}

/** Reason why a recipient got no message. */
export const SKIP_CODES = {
  MESSAGE_TOO_LONG: "With the values of the row, the text is too long.",
  TEXT_EMPTY: "With the values of the row, the text is empty.",
  VALUE_REFUSED: "With the values of the row, the message cannot be sent on one of its channels.",
} as const;
type SkipCode = keyof typeof SKIP_CODES;

/** Recipients without a message, by reason, and the first rows. */
export interface Skips {
  counts: Readonly<Partial<Record<SkipCode, number>>>;
  rows: readonly SkippedRow[];
}

export interface SkippedRow {
  row: number;
  code: SkipCode;
}

/** Rows that are stored; further ones are only counted. */
export const SKIPPED_ROWS_MAX = 100;

/** Why a campaign paused by itself. */
export interface CampaignFailure {
  code: string;
  message: string;
}

export interface Campaign {
  accountId: number;
  id: string;
  /** Created with a test key. */
  test: boolean;
  name: string;
  state: CampaignState;
  message: CampaignMessage;
  audienceId: string;
  /** Messages per hour; null for no limit. */
  throttle: number | null;
  window: SendWindow | null;
  scheduledAt: number | null;
  /** Row of the audience up to which recipients are fed. */
  position: number;
  /** Recipients whose message was accepted. */
  accepted: number;
  skipped: number;
  skips: Skips;
  /** True once every recipient is fed. */
  isFed: boolean;
  failure: CampaignFailure | null;
  /** Time of the next batch, or of the start. */
  nextAt: number;
  createdAt: number;
  /** Changes with every transition, so that a decision on an earlier state is void. */
  changedAt: number;
  startedAt: number | null;
  endedAt: number | null;
  /** Recipients who opted out by a reply within a week of the start. */
  optedOut: number;
}

/** An opt-out by a reply counts for the last campaign that reached the number in this time. */
export const OPT_OUT_COUNTED_MS = 7 * 86_400_000;

/** Actions on a campaign, each with the states in which it changes something. */
export const CAMPAIGN_ACTIONS = {
  schedule: ["draft", "scheduled"],
  start: ["draft", "scheduled"],
  pause: ["running"],
  resume: ["paused"],
  cancel: ["draft", "scheduled", "running", "paused"],
} as const satisfies Record<string, readonly CampaignState[]>;
export type CampaignAction = keyof typeof CAMPAIGN_ACTIONS;

/** Idempotency path of the batches of campaigns. No request has it. */
export const BATCH_PATH = "campaign";

/** Idempotency key of the batch after a row. It outlives the usual 24 hours while the campaign stands at that row. */
export const batchKeyOf = (id: string, position: number): string => `${id}:${position}`;
