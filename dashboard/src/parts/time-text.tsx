import { Text, Tooltip, type TextProps } from "@mantine/core";
import { locale } from "../i18n/language.ts";
import { t } from "../i18n/t.ts";

const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });

const zones = new Intl.DateTimeFormat(locale, { timeZoneName: "short" });

/** The browser's time zone at a time, such as IST. It depends on daylight saving. */
export const zoneAt = (at: number): string =>
  zones.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";

const isToday = (at: number): boolean => new Date(at).toDateString() === new Date().toDateString();

/** Local time; with the date unless it is today. */
export const localTime = (at: number): string => (isToday(at) ? clock : day).format(at);

/** The browser's time zone by name and offset, such as "Europe/Berlin (GMT+1)". */
export function ownZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const parts = new Intl.DateTimeFormat("en", { timeZoneName: "shortOffset" }).formatToParts(new Date());
  return `${timeZone} (${parts.find(({ type }) => type === "timeZoneName")?.value ?? "UTC"})`;
}

/** Local date and time, always with the date. */
export const dayTime = (at: number): string => day.format(at);

const utcTime = (at: number): string => new Date(at).toISOString().replace("T", " ").replace("Z", " UTC");

interface Props extends TextProps {
  /** Epoch milliseconds; null shows a dash. */
  at: number | null | undefined;
}

/** A local time. The tooltip and the `datetime` attribute have UTC. */
export function TimeText({ at, ...text }: Props) {
  if (at === null || at === undefined) return <Text {...text}>–</Text>;
  return (
    <Tooltip label={utcTime(at)}>
      <Text component="time" dateTime={new Date(at).toISOString()} {...text}>
        {localTime(at)}{" "}
        <Text size="xs" c="dimmed" span>
          {zoneAt(at)}
        </Text>
      </Text>
    </Tooltip>
  );
}

/** A duration in its largest suitable unit. */
export function duration(elapsedMs: number): string {
  // Clock skew between nodes can make durations negative.
  const ms = Math.max(0, elapsedMs);
  if (ms < 1000) return t("{number} ms", { number: Math.round(ms) });
  if (ms < 60_000) return t("{number} s", { number: (ms / 1000).toFixed(ms < 10_000 ? 1 : 0) });
  if (ms < 3_600_000) return t("{number} min", { number: Math.round(ms / 60_000) });
  if (ms < 172_800_000) return t("{number} h", { number: Math.round(ms / 3_600_000) });
  return t("{number} days", { number: Math.round(ms / 86_400_000) });
}
