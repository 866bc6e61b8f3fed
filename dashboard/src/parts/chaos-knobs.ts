import { t } from "../i18n/t.ts";
import { duration } from "./time-text.tsx";

/** Fault settings of a simulated carrier. */
export type Chaos = Record<string, number | boolean>;

export interface Knob {
  name: string;
  label: string;
  hint: string;
  calm: number;
  max: number;
  step: number;
  show: (value: number) => string;
}

const percent = (name: string, label: string, hint: string, calm = 0): Knob => ({
  name,
  label,
  hint,
  calm,
  max: 100,
  step: 1,
  show: (value) => `${value} %`,
});

/** The adjustable fault settings with their defaults. */
export const KNOBS: readonly Knob[] = [
  percent("deliveredPercent", t("Delivered"), t("The rest is reported as not delivered."), 100),
  percent("readPercent", t("Read"), t("Share of delivered RCS and chat-app messages."), 100),
  {
    name: "delayMs",
    label: t("Delay"),
    hint: t("From acceptance to delivery."),
    calm: 200,
    max: 10_000,
    step: 100,
    show: duration,
  },
  percent("duplicatePercent", t("Repeated reports"), t("The carrier sends each report twice.")),
  percent("reorderPercent", t("Reports out of order"), t("Earlier events are reported last.")),
  percent("throttledPercent", t("Throttled"), t("Rejected at the first attempt as too fast.")),
  percent("refusedPercent", t("Refused"), t("The carrier rejects the message; another route may succeed.")),
  percent(
    "lostAnswerPercent",
    t("Lost responses"),
    t("The phone got the message, but the carrier's response is lost."),
  ),
];

export const CALM: Chaos = { ...Object.fromEntries(KNOBS.map(({ name, calm }) => [name, calm])), down: false };
