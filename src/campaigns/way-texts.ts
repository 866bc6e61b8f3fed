import { isObject } from "../lib/json.ts";
import type { CampaignWay } from "../model/campaign.ts";

/** These fields name a record, so columns in them would be part of its name. */
const NAMES: ReadonlySet<string> = new Set(["channel", "sender", "botId", "from", "templateName", "templateId"]);

interface WrittenText {
  /** Its path in the way: `components.body.params[0]`. */
  path: string;
  text: string;
}

/** The texts of a way that can have columns. */
export function textsIn(way: CampaignWay): WrittenText[] {
  const found: WrittenText[] = [];
  mapTexts(way, (text, path) => {
    found.push({ text, path });
    return text;
  });
  return found;
}

/** A copy of a way with other texts. */
export const mapTexts = (way: CampaignWay, change: (text: string, path: string) => string): CampaignWay =>
  Object.fromEntries(
    Object.entries(way).map(([field, value]) => [field, NAMES.has(field) ? value : changed(value, field, change)]),
  ) as unknown as CampaignWay;

function changed(value: unknown, path: string, change: (text: string, path: string) => string): unknown {
  if (typeof value === "string") return change(value, path);
  if (Array.isArray(value)) return value.map((each, index) => changed(each, `${path}[${index}]`, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, changed(each, `${path}.${name}`, change)]),
  );
}
