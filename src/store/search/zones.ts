import { sql, type RawBuilder } from "kysely";
import { customerStatus, isSettled, type State } from "../../model/message.ts";
import { laneOf } from "../rows.ts";
import type { MessageFilter } from "../store.ts";
import type { SearchZoneRow } from "../tables.ts";

/** A block with more combinations lists its campaigns and templates apart; with more names than this, it lists none. */
const ZONES_MAX = 64;

/** Kinds of zones, stored as `named`. A block has zones of the first kind, or of the three others. */
export const ZONE_KIND = { unnamed: 0, whole: 1, campaign: 2, template: 3 } as const;

export const ZONE_TYPES = {
  zone: "integer",
  lane: "integer",
  test: "integer",
  status: "text",
  channel: "text",
  named: "integer",
  campaign_name: "text",
  template_name: "text",
  messages: "integer",
  first_id: "text",
  last_id: "text",
} as const;

export const ZONE_COLUMNS = Object.keys(ZONE_TYPES) as (keyof typeof ZONE_TYPES)[];

export type Zone = Pick<SearchZoneRow, keyof typeof ZONE_TYPES>;
/** Messages of a block that have these fields in common. */
export type Combination = Omit<Zone, "zone" | "status" | "named"> & { state: string; channel: string };

/** The zones of a block. Before it is firm, the fields that a transition may change are left out. */
export function zonesOf(combinations: readonly Combination[], isFirm: boolean): Zone[] {
  const zones = groupZones(combinations.map((each) => zoneOf(each, isFirm)));
  return zones.length <= ZONES_MAX ? zones : separateZones(zones);
}

function zoneOf({ state, channel, template_name, ...fixed }: Combination, isFirm: boolean): Omit<Zone, "zone"> {
  const isKnown = isFirm || isSettled(state as State);
  return {
    ...fixed,
    status: isKnown ? customerStatus(state as State) : null,
    channel: isKnown ? channel : null,
    template_name: isKnown ? template_name : null,
    named: ZONE_KIND.whole,
  };
}

/** Lists the names apart from the other fields, which keeps the number of zones small where they combine freely. */
function separateZones(zones: readonly Zone[]): Zone[] {
  const unnamed = { campaign_name: null, template_name: null };
  const empty = { lane: 0, test: 0, channel: null, ...unnamed };
  const campaigns = groupZones(
    zones.flatMap(({ campaign_name, messages, first_id, last_id }) => {
      if (campaign_name === null) return [];
      const named = { named: ZONE_KIND.campaign, campaign_name };
      return [{ ...empty, ...named, status: KNOWN, messages, first_id, last_id }];
    }),
  );
  const templates = groupZones(
    zones.flatMap(({ status, template_name, messages, first_id, last_id }) => {
      if (status !== null && template_name === null) return [];
      const named = { named: ZONE_KIND.template, template_name };
      return [{ ...empty, ...named, status: status && KNOWN, messages, first_id, last_id }];
    }),
  );
  return numbered([
    ...groupZones(zones.map((zone) => ({ ...zone, ...unnamed, named: ZONE_KIND.unnamed }))),
    ...orAny(campaigns, ZONE_KIND.campaign),
    ...orAny(templates, ZONE_KIND.template),
  ]);
}

/** The status of a zone of names, which tells it from one that stands for any name. */
const KNOWN = "known";

/** One zone for any name, where a block has too many names. */
function orAny(zones: readonly Zone[], named: number): Zone[] {
  if (zones.length <= ZONES_MAX) return [...zones];
  const any = { lane: 0, test: 0, status: null, channel: null, campaign_name: null, template_name: null };
  return groupZones(zones.map((zone) => ({ ...zone, ...any, named })));
}

const numbered = (zones: readonly Zone[]): Zone[] => zones.map((zone, index) => ({ ...zone, zone: index }));

function groupZones(rows: readonly Omit<Zone, "zone">[]): Zone[] {
  const zones = new Map<string, Zone>();
  for (const row of rows) {
    const key = JSON.stringify([row.lane, row.test, row.status, row.channel, row.campaign_name, row.template_name]);
    const known = zones.get(key);
    if (known) addTo(known, row);
    else zones.set(key, { ...row, zone: zones.size });
  }
  return [...zones.values()];
}

function addTo(zone: Zone, { messages, first_id, last_id }: Omit<Zone, "zone">): void {
  zone.messages += messages;
  if (first_id < zone.first_id) zone.first_id = first_id;
  if (last_id > zone.last_id) zone.last_id = last_id;
}

/** The conditions on the zone map. Unknown fields count as a match. */
export function zoneConditions({ status, channel, routeClass, campaignName, templateName, test }: MessageFilter): {
  isMatch: RawBuilder<boolean>;
  /** The kinds of zones that must match in a block that lists names apart. */
  kinds: readonly number[];
} {
  const fields: RawBuilder<boolean>[] = [sql`true`];
  if (test !== undefined) fields.push(sql`test = ${test ? 1 : 0}`);
  if (routeClass) fields.push(sql`lane = ${laneOf(routeClass)}`);
  if (status) fields.push(sql`(status is null or status = ${status})`);
  if (channel) fields.push(sql`(channel is null or channel = ${channel})`);
  const whole = [...fields];
  if (campaignName !== undefined) whole.push(sql`campaign_name = ${campaignName}`);
  if (templateName !== undefined) whole.push(sql`(status is null or template_name = ${templateName})`);
  const zones = [isZone(ZONE_KIND.whole, whole), isZone(ZONE_KIND.unnamed, fields)];
  const kinds: number[] = [ZONE_KIND.unnamed];
  if (campaignName !== undefined) {
    kinds.push(ZONE_KIND.campaign);
    zones.push(isZone(ZONE_KIND.campaign, [sql`(status is null or campaign_name = ${campaignName})`]));
  }
  if (templateName !== undefined) {
    kinds.push(ZONE_KIND.template);
    zones.push(isZone(ZONE_KIND.template, [sql`(status is null or template_name = ${templateName})`]));
  }
  return { isMatch: sql`(${sql.join(zones, sql` or `)})`, kinds };
}

const isZone = (kind: number, conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> =>
  sql`(named = ${sql.lit(kind)} and ${sql.join(conditions, sql` and `)})`;
