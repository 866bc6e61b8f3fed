import { isObject } from "../../lib/json.ts";
import { PART_TYPES } from "../../model/chat-session.ts";
import type { SmsLimits } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { readChat, type ChatDraft, type ChatFilling, type ChatTemplateDraft } from "../chatapp/read.ts";
import { bodyChecker, hasNoFaults } from "../check-body.ts";
import type { Draft, DraftRecipient } from "../draft.ts";
import { readRecipient, type NumberSettings } from "../parse-number.ts";
import { readRcs, type RcsDraft } from "../rcs/read.ts";
import { NUMBER_RULE } from "../recipient-list.ts";
import { sendAtFaults, timeOf } from "../send-at.ts";
import { readSms, type SmsDraft } from "../sms/read.ts";
import { waysBody, waysEnvelope } from "./body.ts";

export type WayDraft = RcsDraft | ChatDraft | SmsDraft;

/** A message with several ways to each recipient. Channel and sender are those of the first way. */
export interface WaysDraft extends Draft {
  /** Each has the same recipients, in the same order, perhaps with values of their own. */
  ways: readonly WayDraft[];
  /** The wait for a delivery by one way before the next one. */
  moveOnAfterSeconds: number;
}

const checkEnvelope = bodyChecker(waysEnvelope, Object.keys(waysBody.properties));

/** Valid in its form. Readers of single channels get it in the place of a recipient that is checked apart. */
const STAND_IN = "+15550100100";

/** Fields of the whole message, and those that only a message with one way has. */
const NOT_IN_A_WAY = [
  "to", "number", "recipients", "type", "campaignName", "sendAt", "fallback", "shortenUrlData",
] as const; // prettier-ignore

/**
 * Reads the body of a message with several ways. All faults are reported at once; each names its field and the fix.
 * Next: src/pipeline/accept/prepare-ways.ts
 */
export function readWays(given: unknown, limits: SmsLimits, numbers: NumberSettings, now: number): WaysDraft {
  const body = checkEnvelope(given);
  const { fields, faults } = body;
  faults.push(...sendAtFaults(fields.sendAt, now));
  const written: unknown = body.given.ways;
  const list = fields.ways && Array.isArray(written) ? written.filter(isObject) : [];
  faults.push(...repeatedChannels(list));
  const ways = list.map((way, index) => readWay(way, index, fields.type ?? "TRANS", limits, now));
  for (const way of ways) if (way instanceof Problem) faults.push(...way.faults);
  const recipient = fields.to === undefined ? null : readRecipient(fields.to, numbers);
  const badNumber = fields.to !== undefined && !recipient ? [{ parameter: "to", message: NUMBER_RULE }] : [];
  const problem = ways.find((way) => way instanceof Problem);
  if (!hasNoFaults(body)) {
    const isOne = problem && faults.length === problem.faults.length && badNumber.length === 0;
    throw new Problem(isOne ? problem.code : "INVALID_REQUEST", { faults: [...faults, ...badNumber] });
  }
  if (!recipient) throw new Problem("INVALID_RECIPIENT", { faults: badNumber });
  const { type: routeClass, campaignName = null, moveOnAfterSeconds } = body.fields;
  const common = { routeClass, campaignName, sendAt: timeOf(body.fields.sendAt) };
  const drafts = ways.flatMap((way) => (way instanceof Problem ? [] : [[way]]));
  return waysDraft(common, [recipient], drafts, moveOnAfterSeconds);
}

type Common = Pick<Draft, "routeClass" | "campaignName" | "sendAt">;

/** The draft of ways that are right. Each way is read once, or once for each recipient with its values. */
export function waysDraft(
  common: Common,
  recipients: readonly DraftRecipient[],
  readings: readonly (readonly WayDraft[])[],
  moveOnAfterSeconds: number,
): WaysDraft {
  const ways = readings.map((reading) => addressed(reading, common, recipients));
  const [first] = ways;
  if (!first) throw new Error("a message without a way");
  const { channel, sender } = first;
  return { ...common, channel, sender, recipients, ways, moveOnAfterSeconds };
}

/** A receipt names the channel of its message, so two ways on one channel could not be told apart. */
export function repeatedChannels(list: readonly Record<string, unknown>[]): Fault[] {
  return list.flatMap(({ channel }, index) =>
    list.findIndex((each) => each.channel === channel) === index
      ? []
      : [
          {
            parameter: `ways[${index}].channel`,
            message: "Each way has another channel: an earlier way has this one.",
          },
        ],
  );
}

/** The draft of one way, or the problem of its content with paths from the whole body. */
export function readWay(
  { channel, ...way }: Record<string, unknown>,
  index: number,
  type: string,
  limits: SmsLimits,
  now: number,
): WayDraft | Problem {
  const misplaced = NOT_IN_A_WAY.filter((field) => (way[field] ?? null) !== null);
  if (misplaced.length > 0)
    return new Problem("INVALID_REQUEST", {
      faults: misplaced.map((field) => ({
        parameter: `ways[${index}].${field}`,
        message: `A way has no ${field}: fields of the whole message stand beside ways, and the next way is the fallback.`,
      })),
    });
  const numbers: NumberSettings = { numbers: "lenient", defaultRegion: null };
  const rules = { recipientsMax: limits.recipientsMax, now };
  try {
    switch (channel) {
      case "rcs":
        return readRcs({ ...way, number: STAND_IN, type }, rules, numbers);
      case "chatapp":
        return readChat({ ...way, to: STAND_IN, type: sessionTypeOf(way) ?? "template" }, rules, numbers);
      default:
        return readSms({ ...way, to: STAND_IN, type }, limits, numbers, now);
    }
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return inWay(problem, index);
  }
}

/** The type of a way without a template, by the field with its content. */
const sessionTypeOf = (way: Readonly<Record<string, unknown>>): string | null =>
  (way.templateName ?? null) === null
    ? (["text", ...PART_TYPES].find((type) => typeof way[type] === "object" && way[type] !== null) ?? null)
    : null;

/** The problem of one way with paths from the whole body. */
export function inWay(problem: Problem, index: number): Problem {
  const faults = problem.faults.map(({ parameter, message }) => ({
    parameter: `ways[${index}].${parameter}`,
    message,
  }));
  return new Problem(problem.code, { message: problem.message, faults, cause: problem });
}

function addressed(readings: readonly WayDraft[], common: Common, recipients: readonly DraftRecipient[]): WayDraft {
  const [first] = readings;
  if (!first) throw new Error("a way that was not read");
  const isShared = readings.length === 1;
  if (first.channel === "sms") {
    if (isShared) return { ...first, ...common, recipients: recipients.map((each) => ({ ...each, custom: null })) };
    // A text with values is the one value of a text that is a placeholder.
    const values = readings.flatMap((each) =>
      each.channel === "sms" ? [each.text === null ? (each.custom ?? []) : [each.text]] : [],
    );
    const own = recipients.map((each, place) => ({ ...each, custom: values[place] ?? [] }));
    return { ...first, ...common, text: first.text === null ? null : "{{1}}", recipients: own };
  }
  if (isShared) return { ...first, ...common, recipients };
  if (first.channel === "rcs") {
    const contents = readings.map((each) => (each.channel === "rcs" ? each.content : null));
    const own = recipients.map((each, place) => ({ ...each, content: contents[place] ?? null }));
    return { ...first, ...common, recipients: own };
  }
  if (first.kind !== "template") throw new Error("a way that is a session message");
  const fillings = readings.map((each) => ownIn(each.channel === "chatapp" && each.kind === "template" ? each : first));
  return { ...first, ...common, recipients: recipients.map((each, place) => ({ ...each, ...fillings[place] })) };
}

/** The values of a message as those of one of several recipients. */
const ownIn = (draft: ChatTemplateDraft): { own: ChatFilling; language?: string } => {
  const { header, params, values, buttons, expiresAt, cards, language } = draft;
  const own = {
    header,
    params,
    ...(values && { values }),
    ...(buttons && { buttons }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(cards && { cards }),
  };
  return { own, ...(language !== undefined && { language }) };
};
