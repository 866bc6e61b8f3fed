import { CountriesInput } from "../../parts/record/countries-input.tsx";
import type { Field, Option } from "../../parts/record/field.ts";
import { OtpGuardInput, SameTextInput } from "./limit-inputs.tsx";

const choice = (name: string, label: string, hint: string, options: readonly Option[]): Field => ({
  name,
  label,
  hint,
  input: { kind: "choice", options },
});

const days = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint,
  input: { kind: "number", min: 1, max: 3650, suffix: "days" },
});

/** The settings of an account. */
export const SETTINGS: readonly Field[] = [
  choice("credits", "Credits", "A metered account sends as long as its credits last.", [
    { value: "unlimited", label: "Unlimited" },
    { value: "metered", label: "Metered" },
  ]),
  {
    name: "refundUndelivered",
    label: "Pay back what was not delivered",
    hint: "When the network could not deliver a message that was paid for.",
    input: { kind: "switch" },
  },
  choice("numbers", "Numbers", "Strict refuses numbers at the door that no country could have given out.", [
    { value: "lenient", label: "Lenient" },
    { value: "strict", label: "Strict" },
  ]),
  {
    name: "defaultRegion",
    label: "Country of numbers without one",
    hint: "Two letters, like IN: numbers without a plus may then be written as people there write them.",
    input: { kind: "text", placeholder: "None" },
  },
  {
    name: "allowedCountries",
    label: "Only to these countries",
    hint: "By their two letters, like IN.",
    input: { kind: "own", component: CountriesInput },
  },
  choice("records", "Unknown names", "What the simulator does with templates and senders that it does not know.", [
    { value: "learn", label: "Learn them from the request" },
    { value: "strict", label: "Refuse them, as real carriers do" },
  ]),
  choice("textMismatch", "A text that does not match its template", "", [
    { value: "refuse", label: "Is refused" },
    { value: "warn", label: "Is sent, with a warning" },
  ]),
  choice(
    "limits",
    "Limits that guard money and people",
    "On the simulator they are only noted, unless they bind everywhere.",
    [
      { value: "real carriers", label: "Bind on real carriers" },
      { value: "everywhere", label: "Bind everywhere" },
    ],
  ),
  {
    name: "sameText",
    label: "Stop the same text to the same number",
    hint: "What sends again and again is mostly a mistake.",
    input: { kind: "own", component: SameTextInput },
  },
  {
    name: "otpGuard",
    label: "Guard against pumped codes",
    hint: "Some numbers earn for whoever is sent a code on them; what gives them away is that nobody uses the codes.",
    input: { kind: "own", component: OtpGuardInput },
  },
  {
    name: "stopWords",
    label: "Words that opt out",
    hint: "Answers that put a recipient on the opt-out list. Case, accents and punctuation do not matter.",
    input: { kind: "phrases" },
  },
  {
    name: "startWords",
    label: "Words that opt in again",
    input: { kind: "phrases" },
  },
  {
    name: "zone",
    label: "Time zone of delivery reports",
    hint: "Like Asia/Kolkata.",
    input: { kind: "text" },
    required: true,
  },
  days("keepTextsDays", "Texts are kept for", "Then the words of ended messages are erased."),
  days("keepMessagesDays", "Messages are kept for", "At least as long as texts."),
];
