import { ChannelBadge } from "../../parts/channel.tsx";
import { CountriesInput } from "../../parts/record/countries-input.tsx";
import type { Field } from "../../parts/record/field.ts";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { duration } from "../../parts/time-text.tsx";
import { ChannelsInput } from "./channels-input.tsx";
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
  add: "Add configuration",
  starts: {
    name: "",
    channels: [{ channel: "sms", from: "HELIOG" }],
    text: "{code} is your verification code. It is valid for {minutes} minutes.",
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
      label: "Name",
      hint: "The configId of requests.",
      input: { kind: "text", placeholder: "login" },
      required: true,
    },
    {
      name: "channels",
      label: "Channels",
      hint: "In the order they are tried: without a delivery in time, the next one has its turn.",
      input: { kind: "own", component: ChannelsInput },
      required: true,
    },
    {
      name: "text",
      label: "Text",
      hint: "What an SMS without a template says. {code} must be in it; {minutes} is filled in as well.",
      input: { kind: "long", rows: 2 },
      required: true,
    },
    { name: "length", label: "Characters of a code", input: { kind: "number", min: 4, max: 10 } },
    {
      name: "alphabet",
      label: "Made of",
      input: {
        kind: "choice",
        options: [
          { value: "digits", label: "Digits" },
          { value: "letters and digits", label: "Letters and digits" },
        ],
      },
    },
    {
      name: "lifeSeconds",
      label: "Good for",
      input: { kind: "number", min: 60, max: 600, suffix: "seconds" },
    },
    number("checks", "Tries at a code", "Then it is worth nothing.", 1, 10),
    number("cooldownSeconds", "Pause", "From one code to the next for the same number.", 0, 3600, "seconds"),
    number("sendsPer10Minutes", "Codes to a number in ten minutes", "More are refused.", 1, 100),
    number("sendsPerDay", "Codes to a number in a day", "More are refused.", 1, 100),
    number(
      "failuresPerHour",
      "Wrong tries in an hour",
      "At the codes of one number, whatever new ones are sent.",
      1,
      100,
    ),
    number("failuresPerDay", "Wrong tries in a day", "The same within 24 hours.", 1, 100),
    {
      name: "allowedCountries",
      label: "Only to these countries",
      hint: "By their two letters, like IN; none means all that the account may send to.",
      input: { kind: "own", component: CountriesInput },
      more: true,
    },
    {
      name: "appHash",
      label: "Android app hash",
      hint: "Eleven characters by which Android gives the SMS to your app.",
      input: { kind: "text" },
      more: true,
    },
    {
      name: "webOtpDomain",
      label: "Site that fills the code in",
      hint: "Like example.com: browsers offer the code there.",
      input: { kind: "text" },
      more: true,
    },
    {
      name: "testNumbers",
      label: "Test numbers",
      hint: "Their code is always the same, brought by the simulator alone.",
      input: { kind: "own", component: TestNumbersInput },
      more: true,
    },
  ],
  columns: [
    {
      title: "Channels",
      render: ({ channels }) => channels.map(({ channel }, index) => <ChannelBadge key={index} channel={channel} />),
    },
    { title: "Length", wide: true, align: "right", render: ({ length }) => length },
    { title: "Good for", wide: true, align: "right", render: ({ lifeSeconds }) => duration(lifeSeconds * 1000) },
    { title: "Tries", wide: true, align: "right", render: ({ checks }) => checks },
    { title: "Test numbers", wide: true, align: "right", render: ({ testNumbers }) => testNumbers.length },
  ],
  empty: {
    sentence: "No configuration yet. It says how codes look, how they are brought and how often.",
    example: { name: "login" },
  },
  removal: "Requests that name it are refused from now on; codes that were sent stay good.",
};

/** How codes look, how they are brought, and what keeps them from being misused. */
export const VerifyConfigs = () => <RecordTable kind={KIND} />;
