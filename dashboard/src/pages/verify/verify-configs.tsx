import { t } from "../../i18n/t.ts";
import { ChannelBadge } from "../../parts/channel.tsx";
import { CountriesInput } from "../../parts/record/countries-input.tsx";
import type { Field } from "../../parts/record/field.ts";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { duration } from "../../parts/time-text.tsx";
import { ChannelsInput } from "./channels-input.tsx";
import { SubjectsInput, TextsInput } from "./languages-input.tsx";
import { TestNumbersInput } from "./test-numbers-input.tsx";
import type { VerifyConfig } from "./verification.ts";

const number = (name: string, label: string, hint: string, min: number, max: number, suffix?: string): Field => ({
  name,
  label,
  hint,
  input: { kind: "number", min, max, ...(suffix ? { suffix } : {}) },
  more: true,
});

const KIND: RecordKind<VerifyConfig> = {
  path: "/api/verify-configs",
  one: "configuration",
  add: t("Add configuration"),
  starts: {
    name: "",
    channels: [{ channel: "sms", from: "HELIOG" }],
    text: "{code} is your verification code. It is valid for {minutes} minutes.",
    subject: "Your verification code",
    length: 6,
    alphabet: "digits",
    lifeSeconds: 300,
    checks: 5,
    cooldownSeconds: 30,
    sendsPer10Minutes: 5,
    sendsPerDay: 10,
    failuresPerHour: 10,
    failuresPerDay: 30,
    allowedCountries: null,
    appHash: null,
    webOtpDomain: null,
    testNumbers: [],
  },
  fields: [
    {
      name: "name",
      label: t("Name"),
      hint: t("Use this as configId in the API."),
      input: { kind: "text", placeholder: "login" },
      required: true,
    },
    {
      name: "channels",
      label: t("Channels"),
      hint: t("In this order: without a delivery in time, the next channel is used."),
      input: { kind: "own", component: ChannelsInput },
      required: true,
    },
    {
      name: "text",
      label: t("Text"),
      hint: t("Text of SMS without a template and of e-mails. Must contain {code}; may contain {minutes}."),
      input: { kind: "long", rows: 2 },
      required: true,
    },
    {
      name: "subject",
      label: t("E-mail subject"),
      hint: t("May contain {code} and {minutes}."),
      input: { kind: "text" },
      more: true,
    },
    {
      name: "texts",
      label: t("Text in other languages"),
      hint: t(
        "By language tag, such as hi or pt-BR. Requests choose one with locale; without a match the text above is sent.",
      ),
      input: { kind: "own", component: TextsInput },
      secretFree: true,
      more: true,
    },
    {
      name: "subjects",
      label: t("E-mail subject in other languages"),
      hint: t("Chosen like the text."),
      input: { kind: "own", component: SubjectsInput },
      secretFree: true,
      more: true,
    },
    { name: "length", label: t("Code length"), input: { kind: "number", min: 4, max: 10 } },
    {
      name: "alphabet",
      label: t("Characters"),
      input: {
        kind: "choice",
        options: [
          { value: "digits", label: t("Digits") },
          { value: "letters and digits", label: t("Letters and digits") },
        ],
      },
    },
    {
      name: "lifeSeconds",
      label: t("Valid for"),
      input: { kind: "number", min: 60, max: 600, suffix: t("seconds") },
    },
    number("checks", t("Attempts per code"), t("Then the code is invalid."), 1, 10),
    number("cooldownSeconds", t("Pause"), t("Minimum time between codes to the same number."), 0, 3600, t("seconds")),
    number("sendsPer10Minutes", t("Codes per number in ten minutes"), t("Further requests are rejected."), 1, 100),
    number("sendsPerDay", t("Codes per number per day"), t("Further requests are rejected."), 1, 100),
    number("failuresPerHour", t("Wrong attempts per hour"), t("Per number, also across new codes."), 1, 100),
    number("failuresPerDay", t("Wrong attempts per day"), t("Per number, within 24 hours."), 1, 100),
    {
      name: "allowedCountries",
      label: t("Allowed countries"),
      hint: t("Two-letter codes, such as IN. Leave empty for all allowed countries of the account."),
      input: { kind: "own", component: CountriesInput },
      more: true,
    },
    {
      name: "appHash",
      label: t("Android app hash"),
      hint: t("Eleven characters with which Android finds your app (SMS Retriever)."),
      input: { kind: "text" },
      more: true,
    },
    {
      name: "webOtpDomain",
      label: t("Autofill domain"),
      hint: t("Such as example.com: browsers offer the code there."),
      input: { kind: "text" },
      more: true,
    },
    {
      name: "testNumbers",
      label: t("Test numbers"),
      hint: t("Always get the same code, only through the simulator."),
      input: { kind: "own", component: TestNumbersInput },
      more: true,
    },
  ],
  columns: [
    {
      title: t("Channels"),
      render: ({ channels }) => channels.map(({ channel }, index) => <ChannelBadge key={index} channel={channel} />),
    },
    { title: t("Length"), wide: true, align: "right", render: ({ length }) => length },
    { title: t("Valid for"), wide: true, align: "right", render: ({ lifeSeconds }) => duration(lifeSeconds * 1000) },
    { title: t("Attempts"), wide: true, align: "right", render: ({ checks }) => checks },
    { title: t("Test numbers"), wide: true, align: "right", render: ({ testNumbers }) => testNumbers.length },
  ],
  empty: {
    sentence: t("No configurations yet. A configuration sets the code format, the channels and the limits."),
    example: { name: "login" },
  },
  removal: t("Requests with this name are rejected from now on. Sent codes stay valid."),
};

/** Verification configurations: code format, delivery channels and abuse protection. */
export const VerifyConfigs = () => <RecordTable kind={KIND} />;
