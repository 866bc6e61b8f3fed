import { countOf } from "../../lib/text.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import type { Dlt, SmsContent, SmsLimits } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import {
  hasRoomForParts,
  isNumberedPart,
  segmentsOf,
  type UserData,
  type UserDataEncoding,
} from "../../model/user-data.ts";
import type { Composed, Composition } from "../draft.ts";
import { outsideGsm, type DraftUserData, type SmsDraft } from "./read.ts";
import { firstUcs2Character, segment } from "./segment.ts";
import { countTokens, placeCodes, STAND_IN_CODE } from "./short-link-tokens.ts";
import {
  matchTemplate,
  plainTemplateText,
  readTemplateText,
  renderTemplate,
  storedPattern,
  type TemplateText,
} from "../template.ts";

export type SmsComposed = Composed<SmsContent>;

interface Choices {
  template: CatalogRecord<"template"> | null;
  textMismatch: "refuse" | "warn";
  /** The part of a short link before its code. */
  linkBase: string;
  rules: SmsLimits;
}

/**
 * Composes the texts of a draft: fills in templates, matches finished texts against their template, and counts segments.
 * Short-link tokens are counted with a stand-in code of the right length; `withCodes` inserts the codes.
 * Next: src/pipeline/policy/check.ts
 */
export function composeSms(draft: SmsDraft, choices: Choices): Composition<SmsContent> {
  const { text, custom, recipients } = draft;
  const own = recipients.some((recipient) => recipient.custom !== null);
  const warning = text === null || own ? null : mismatch(text, choices);
  if (!own) return { shared: composeOne(draft, choices, textOf(draft, choices, custom, "custom")), each: [], warning };
  const each = recipients.map((recipient, index) => {
    const values = recipient.custom ?? custom ?? [];
    return composeOne(draft, choices, textOf(draft, choices, values, `recipients[${index}].custom`));
  });
  return { shared: null, each, warning };
}

/** Inserts a recipient's short-link codes into its text. */
export function withCodes({ content, segments }: SmsComposed, codes: readonly string[], linkBase: string): SmsComposed {
  const text = placeCodes(content.text, codes, linkBase);
  return { content: { ...content, text }, segments };
}

function textOf(draft: SmsDraft, { template }: Choices, values: readonly string[] | null, parameter: string): string {
  if (draft.text !== null) return values === null ? draft.text : fill(patternInRequest(draft.text), values, parameter);
  const given = values ?? [];
  const stored = template?.content.text ?? null;
  const pattern = stored === null ? null : storedPattern(stored);
  // A learned template follows the latest request, including the number of its variables.
  const outgrown = template?.origin === "learned" && pattern?.variables !== given.length;
  return pattern === null || outgrown
    ? plainTemplateText(draft.templateId ?? "", given)
    : fill(pattern, given, parameter);
}

function patternInRequest(text: string): TemplateText {
  const pattern = readTemplateText(text);
  if (!("fault" in pattern)) return pattern;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "text", message: pattern.fault }] });
}

function fill(pattern: TemplateText, values: readonly string[], parameter: string): string {
  if (values.length === pattern.variables) return renderTemplate(pattern, values);
  const message = `${countOf(values.length, "value")}, and the text has ${countOf(pattern.variables, "variable")}: give one value for each, in order.`;
  throw new Problem("PARAMS_MISMATCH", { faults: [{ parameter, message }] });
}

/** Matches a finished text against the template that it names; returns a warning or null. */
function mismatch(text: string, { template, textMismatch }: Choices): string | null {
  if (!template || template.origin === "learned" || template.content.text === null) return null;
  const match = matchTemplate(storedPattern(template.content.text), text);
  if (match.matches) return null;
  const where = `The text differs from template ${template.name} at character ${match.at + 1}: expected ${JSON.stringify(match.expected)}`;
  // A warning is retained longer than the text, so it contains no part of it.
  if (textMismatch === "warn") return where;
  const message = `${where}, found ${JSON.stringify(match.found)}.`;
  throw new Problem("TEXT_TEMPLATE_MISMATCH", { faults: [{ parameter: "text", message }] });
}

function composeOne(draft: SmsDraft, choices: Choices, written: string): SmsComposed {
  const { unicode, flash, targets } = draft;
  if (draft.userData) return composeUserData(draft, draft.userData, choices, written);
  const text = targets === null ? written : withStandIns(written, targets, choices.linkBase);
  refuseOutside(text, unicode);
  const { encoding, segments } = segment(text, unicode === 1);
  refuseTooLong(text, encoding === "ucs2", segments, choices.rules);
  // The tokens stay in the text until each recipient has its codes.
  return { content: contentOf(draft, choices, { text: written, encoding, flash: flash === 1 }), segments };
}

/** A message with a header or fields of its own, or of octets. */
function composeUserData(
  draft: SmsDraft,
  { udh, dataCoding, waiting, protocolId }: DraftUserData,
  choices: Choices,
  text: string,
): SmsComposed {
  const encoding: UserDataEncoding = dataCoding === null ? segment(text, draft.unicode === 1).encoding : "binary";
  const data = { text, encoding, ...(udh !== "" && { udh }) };
  const segments = segmentsOf(data);
  const fault = segments > 1 ? headerFault(data) : null;
  if (fault !== null) throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: "udh", message: fault }] });
  if (dataCoding === null) refuseTooLong(text, encoding === "ucs2", segments, choices.rules);
  else refuseTooManyOctets(text, segments, choices.rules);
  const base = {
    ...data,
    flash: draft.flash === 1,
    ...(dataCoding !== null && { dataCoding }),
    ...(waiting !== undefined && { waiting }),
    ...(protocolId !== undefined && { protocolId }),
  };
  return { content: contentOf(draft, choices, base), segments };
}

function contentOf(draft: SmsDraft, { template }: Choices, base: SmsContent): SmsContent {
  const content: SmsContent = base;
  const dlt = draft.dlt ?? dltOf(template);
  if (dlt) content.dlt = dlt;
  if (draft.tlvs && draft.tlvs.length > 0) content.tlvs = draft.tlvs;
  if (draft.templateId !== null) content.templateName = draft.templateId;
  return content;
}

const PART_TOO_LONG =
  "The header numbers this message as a part, and it does not fit one segment with its header: shorten the part, or leave the concatenation out and send the whole.";

const NO_ROOM =
  "The message does not fit one segment, and its header leaves no room for a part of it: shorten the header or the text.";

/** The reason why a message with this header cannot be split; null if it can. */
function headerFault(data: UserData): string | null {
  if (isNumberedPart(data)) return PART_TOO_LONG;
  return hasRoomForParts(data) ? null : NO_ROOM;
}

function refuseTooManyOctets(hex: string, segments: number, { segmentsMax }: SmsLimits): void {
  if (segments <= segmentsMax) return;
  const message = `The message has ${countOf(hex.length / 2, "octet")} in ${countOf(segments, "segment")}; at most ${segmentsMax} segments are sent.`;
  throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: "text", message }] });
}

function withStandIns(text: string, targets: readonly string[], linkBase: string): string {
  const tokens = countTokens(text);
  if (tokens === targets.length)
    return placeCodes(
      text,
      targets.map(() => STAND_IN_CODE),
      linkBase,
    );
  const message =
    targets.length === 0
      ? "The text has {SORT} and shortenUrl is false: set it to true and give a targetUrl for each."
      : `The text has {SORT} ${countOf(tokens, "time")}, and targetUrl has ${countOf(targets.length, "address", "addresses")}: give one for each, in order.`;
  throw new Problem("SHORT_LINK_MISMATCH", { faults: [{ parameter: "shortenUrlData.targetUrl", message }] });
}

function dltOf(template: CatalogRecord<"template"> | null): Dlt | null {
  if (!template) return null;
  const { dltContentId: contentId, dltEntityId: entityId } = template.content;
  return contentId === null && entityId === null ? null : { contentId, entityId };
}

function refuseOutside(text: string, unicode: SmsDraft["unicode"]): void {
  const fault = outsideGsm(text, unicode);
  if (fault) throw new Problem("INVALID_REQUEST", { faults: [fault] });
}

function refuseTooLong(text: string, ucs2: boolean, segments: number, rules: SmsLimits): void {
  if (text.length <= rules.textMax && segments <= rules.segmentsMax) return;
  const culprit = ucs2 ? firstUcs2Character(text) : null;
  const advice =
    culprit === null ? "" : ` Without ${JSON.stringify(culprit)} and its like more than twice as much would fit.`;
  const message = `The text has ${countOf(text.length, "character")} in ${countOf(segments, "segment")}; at most ${rules.textMax} characters and ${rules.segmentsMax} segments are sent.${advice}`;
  throw new Problem("MESSAGE_TOO_LONG", { faults: [{ parameter: "text", message }] });
}
