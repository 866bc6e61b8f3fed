import { Text, Tooltip, type TextProps } from "@mantine/core";

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

const isToday = (at: number): boolean => new Date(at).toDateString() === new Date().toDateString();

/** A moment on the reader's own clock: the time alone today, with the date before. */
export const localTime = (at: number): string => (isToday(at) ? clock : day).format(at);

const utcTime = (at: number): string => new Date(at).toISOString().replace("T", " ").replace("Z", " UTC");

interface Props extends TextProps {
  /** Epoch milliseconds; null shows a dash. */
  at: number | null | undefined;
}

/** A time as the reader's clock shows it, with UTC on hover, on focus and for whoever copies the page. */
export function TimeText({ at, ...text }: Props) {
  if (at === null || at === undefined) return <Text {...text}>–</Text>;
  return (
    <Tooltip label={utcTime(at)}>
      <Text component="time" dateTime={new Date(at).toISOString()} {...text}>
        {localTime(at)}
      </Text>
    </Tooltip>
  );
}

/** How long something took, as people say it. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}
