import { t } from "../../i18n/t.ts";
import { countries } from "../../parts/countries.ts";
import { CountriesInput } from "../../parts/record/countries-input.tsx";
import type { Field, Option } from "../../parts/record/field.ts";
import { AlertEmailInput } from "./alert-email-input.tsx";
import { KeywordRulesInput } from "./keyword-rules-input.tsx";
import { OtpGuardInput, SameTextInput } from "./limit-inputs.tsx";
import { ZONES } from "./zones.ts";

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
  input: { kind: "number", min: 1, max: 3650, suffix: t("days") },
});

const SECTIONS: readonly { title: string; fields: readonly Field[] }[] = [
  {
    title: t("Credits"),
    fields: [
      choice("credits", t("Credits"), t("A metered account sends while it has credits."), [
        { value: "unlimited", label: t("Unlimited") },
        { value: "metered", label: t("Metered") },
      ]),
      {
        name: "refundUndelivered",
        label: t("Refund undelivered messages"),
        hint: t("When the network could not deliver a charged message."),
        input: { kind: "switch" },
      },
    ],
  },
  {
    title: t("Numbers and countries"),
    fields: [
      choice("numbers", t("Numbers"), t("Strict rejects invalid numbers."), [
        { value: "lenient", label: t("Lenient") },
        { value: "strict", label: t("Strict") },
      ]),
      {
        name: "defaultRegion",
        label: t("Default country"),
        hint: t("Numbers without a plus are read in this country's national format."),
        input: { kind: "choice", options: countries(), none: t("None"), searchable: true },
      },
      {
        name: "defaultLanguage",
        label: t("Default language"),
        hint: t("Language of chat-app templates for recipients without one of their own, such as pt_BR."),
        input: { kind: "text", placeholder: t("That of the template") },
      },
      {
        name: "allowedCountries",
        label: t("Allowed countries"),
        hint: t("Type a name, or two letters such as IN."),
        input: { kind: "own", component: CountriesInput },
      },
    ],
  },
  {
    title: t("Templates and senders"),
    fields: [
      choice("records", t("Unknown templates and senders"), t("What the simulator does with names it does not know."), [
        { value: "learn", label: t("Learn from the request") },
        { value: "strict", label: t("Reject, as real carriers do") },
      ]),
      choice("textMismatch", t("Text that does not match its template"), "", [
        { value: "refuse", label: t("Reject") },
        { value: "warn", label: t("Send with a warning") },
      ]),
    ],
  },
  {
    title: t("Limits and fraud protection"),
    fields: [
      choice("limits", t("Safety limits"), t("On the simulator they are only logged, unless enforced everywhere."), [
        { value: "real carriers", label: t("Enforce on real carriers") },
        { value: "everywhere", label: t("Enforce everywhere") },
      ]),
      {
        name: "sameText",
        label: t("Duplicate filter"),
        hint: t("Blocks accidental duplicates."),
        input: { kind: "own", component: SameTextInput },
      },
      {
        name: "otpGuard",
        label: t("SMS pumping protection"),
        hint: t("Protects against SMS pumping fraud: blocks number ranges whose codes are not verified."),
        input: { kind: "own", component: OtpGuardInput },
      },
    ],
  },
  {
    title: t("Opt-outs"),
    fields: [
      {
        name: "stopWords",
        label: t("Opt-out keywords"),
        hint: t("Replies that add a number to the opt-out list. Case, accents and punctuation are ignored."),
        input: { kind: "phrases" },
      },
      {
        name: "startWords",
        label: t("Opt-in keywords"),
        input: { kind: "phrases" },
      },
      {
        name: "keywordRules",
        label: t("Keyword rules"),
        hint: t(
          "Automatic replies, and keywords for single numbers or countries. Rules for a number come first, then those for a country; the first with the word decides.",
        ),
        input: { kind: "own", component: KeywordRulesInput },
        secretFree: true,
      },
    ],
  },
  {
    title: t("Alerts"),
    fields: [
      {
        name: "alertEmail",
        label: t("E-mails about alerts"),
        hint: t("When an alert opens or resolves."),
        input: { kind: "own", component: AlertEmailInput },
      },
    ],
  },
  {
    title: t("Delivery reports and retention"),
    fields: [
      {
        name: "zone",
        label: t("Time zone of delivery reports"),
        hint: t("Such as Asia/Kolkata."),
        input: { kind: "text", suggestions: ZONES },
        required: true,
      },
      days("keepTextsDays", t("Keep texts for"), t("Then the texts of finished messages are erased.")),
      days("keepMessagesDays", t("Keep messages for"), t("At least as long as texts.")),
      days("keepContactsDays", t("Keep contacts for"), t("Since their last change. Empty keeps them.")),
    ],
  },
];

/** The account settings in sections. */
export const SETTINGS: readonly Field[] = SECTIONS.flatMap(({ title, fields }) =>
  fields.map((field) => ({ ...field, section: title })),
);
