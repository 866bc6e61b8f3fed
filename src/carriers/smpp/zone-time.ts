const SLOT_MS = 900_000;
const SLOTS_KEPT_MAX = 1000;
const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2}))?/;

/** What is added to UTC for the clock on the wall, by quarter of an hour: changes fall on one, and asking Intl is dear. */
interface Zone {
  format: Intl.DateTimeFormat;
  offsets: Map<number, number>;
}

const zones = new Map<string, Zone | null>();

/**
 * The moment at which the clocks of a zone show a time; `wallMs` is that time read as if it were UTC. Where the clocks are
 * set forward over it, it is the moment after; where they show it twice, one of the two.
 */
export function momentIn(zone: string, wallMs: number): number {
  return wallMs - offsetAt(zone, wallMs - offsetAt(zone, wallMs));
}

function offsetAt(name: string, at: number): number {
  const zone = zoneOf(name);
  if (zone === null) return 0;
  const slot = Math.floor(at / SLOT_MS);
  const known = zone.offsets.get(slot);
  if (known !== undefined) return known;
  if (zone.offsets.size >= SLOTS_KEPT_MAX) zone.offsets.clear();
  const [, sign, hours = 0, minutes = 0] = OFFSET.exec(zone.format.format(slot * SLOT_MS)) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000);
  zone.offsets.set(slot, offset);
  return offset;
}

function zoneOf(name: string): Zone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = makeZone(name);
  zones.set(name, zone);
  return zone;
}

function makeZone(name: string): Zone | null {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    return { format, offsets: new Map() };
  } catch {
    // A zone that this machine does not know: its receipts are read in UTC, which is better than losing them.
    return null;
  }
}
