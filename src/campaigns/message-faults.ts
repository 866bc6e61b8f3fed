import { countTokens } from "../channels/sms/short-link-tokens.ts";
import { readWay, repeatedChannels } from "../channels/ways/read.ts";
import { countOf } from "../lib/text.ts";
import type { AudienceLayout } from "../model/audience.ts";
import type { CampaignMessage, CampaignWay } from "../model/campaign.ts";
import type { SmsLimits } from "../model/message.ts";
import { Problem, type Fault } from "../model/problem.ts";
import { hasColumns, unknownColumn } from "./placeholders.ts";
import { textsIn } from "./way-texts.ts";

type Layout = Pick<AudienceLayout, "variables"> | null;

interface Rules {
  limits: SmsLimits;
  /** An offer must end later. */
  now: number;
}

/** Faults of a campaign's message by its field; without a layout, the columns are not known yet. */
export function messageFaults(message: CampaignMessage, layout: Layout, rules: Rules): Fault[] {
  return message.ways === null ? textFaults(message, layout) : waysFaults(message, message.ways, layout, rules);
}

const STORED_PLACEHOLDER = "Write columns as {{name}}: {#var#} is for stored templates.";

function textFaults({ sender, text, templateId, custom, targets }: CampaignMessage, layout: Layout): Fault[] {
  const faults: Fault[] = [];
  const add = (parameter: string, message: string): void => void faults.push({ parameter, message });
  if (sender === "") add("sender", "Give the sender of the text, or ways.");
  if (text === null && templateId === null) add("text", "Give the text, or templateId with custom, or ways.");
  if (text !== null && templateId !== null) add("text", "Give either text, or templateId with custom, not both.");
  if (text !== null && custom !== null)
    add("custom", "custom fills the variables of a template: leave it out, or null.");
  if (text === null && templateId !== null && custom === null)
    add("custom", "Give one value per variable of the template, in order.");
  if (text?.includes("{#var#}")) add("text", STORED_PLACEHOLDER);
  const links = targets?.length ?? 0;
  const tokens = text === null ? links : countTokens(text);
  // Without links, the token is plain text, as in a send.
  if (targets !== null && tokens !== links)
    add(
      "shortenUrlData.targetUrl",
      `The text has ${countOf(tokens, "{SORT} token")}, and there are ${countOf(links, "address", "addresses")}: give one for each.`,
    );
  if (text !== null) faults.push(...unknownColumn("text", text, layout));
  custom?.forEach((value, index) => faults.push(...unknownColumn(`custom[${index}]`, value, layout)));
  return faults;
}

function waysFaults(
  { type, text, templateId, custom, targets }: CampaignMessage,
  ways: readonly CampaignWay[],
  layout: Layout,
  rules: Rules,
): Fault[] {
  const beside = Object.entries({ text, templateId, custom, shortenUrlData: targets });
  const faults = beside.flatMap(([parameter, value]) =>
    value === null
      ? []
      : [{ parameter, message: `With ways, the content stands in them: leave ${parameter} out, or null.` }],
  );
  faults.push(...repeatedChannels(ways));
  for (const [index, way] of ways.entries()) faults.push(...wayFaults(way, index, type, layout, rules));
  return faults;
}

/** A way is checked like one of a send, except for texts with columns: these are checked with the values of each recipient. */
function wayFaults(
  way: CampaignWay,
  index: number,
  type: CampaignMessage["type"],
  layout: Layout,
  { limits, now }: Rules,
): Fault[] {
  const open = new Set<string>();
  const faults: Fault[] = [];
  for (const { path, text } of textsIn(way)) {
    const parameter = `ways[${index}].${path}`;
    if (hasColumns(text)) open.add(parameter);
    if (way.channel === "sms" && text.includes("{#var#}")) faults.push({ parameter, message: STORED_PLACEHOLDER });
    faults.push(...unknownColumn(parameter, text, layout));
  }
  if (way.channel === "sms" && "text" in way && "templateId" in way) {
    const message = "Give either text, or templateId with custom, not both.";
    faults.push({ parameter: `ways[${index}].text`, message });
  }
  const read = readWay(way, index, type, limits, now);
  if (!(read instanceof Problem)) return faults;
  return [...faults, ...read.faults.filter(({ parameter }) => !open.has(parameter))];
}
