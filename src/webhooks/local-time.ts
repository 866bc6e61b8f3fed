const formats = new Map<string, Intl.DateTimeFormat>();

/** Most of what is told in a second happened in the same one. */
let last = { second: Number.NaN, zone: "", shown: "" };

/** A moment as the clock on the wall of a zone shows it: `YYYY-MM-DD HH:mm:ss`. */
export function localTime(at: number, zone: string): string {
  const second = Math.floor(at / 1000);
  if (second !== last.second || zone !== last.zone) last = { second, zone, shown: written(at, zone) };
  return last.shown;
}

function written(at: number, zone: string): string {
  const parts = formatOf(zone).formatToParts(at);
  const part = (wanted: Intl.DateTimeFormatPartTypes): string => parts.find(({ type }) => type === wanted)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")}`;
}

// Making one costs a hundred times as much as using it, and there are no more of them than zones.
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  formats.set(zone, format);
  return format;
}
