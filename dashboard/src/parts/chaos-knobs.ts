import { duration } from "./time-text.tsx";

/** How a simulated line misbehaves. */
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

/** Everything that can be made worse, with what it is when all is calm. */
export const KNOBS: readonly Knob[] = [
  percent("deliveredPercent", "Delivered", "The rest is reported as not delivered.", 100),
  percent("readPercent", "Read", "Of what is delivered by RCS or the chat app.", 100),
  {
    name: "delayMs",
    label: "Delay",
    hint: "From being taken to being delivered.",
    calm: 200,
    max: 10_000,
    step: 100,
    show: duration,
  },
  percent("duplicatePercent", "Repeated reports", "The carrier says the same thing twice."),
  percent("reorderPercent", "Reports out of order", "What happened first is told last."),
  percent("throttledPercent", "Throttled", "Turned away at the first try: too fast."),
  percent("refusedPercent", "Refused", "The carrier has reasons of its own; another route may do better."),
  percent("lostAnswerPercent", "Lost answers", "The phone has the message, but nobody was told that it was taken."),
];

export const CALM: Chaos = { ...Object.fromEntries(KNOBS.map(({ name, calm }) => [name, calm])), down: false };
