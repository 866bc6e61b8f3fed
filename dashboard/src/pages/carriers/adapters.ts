import { t } from "../../i18n/t.ts";
import type { Channel } from "../../parts/channel.tsx";
import type { Field, Parts, Values } from "../../parts/record/field.ts";
import { ChaosInput } from "./chaos-input.tsx";
import { EMAIL_PARTS } from "./email-fields.ts";
import { httpFault } from "./http-faults.ts";
import { HTTP_PARTS, setHttp } from "./http-fields.ts";
import { lineInput, type LineHabits } from "./line-input.tsx";
import { RBM_PARTS } from "./rbm-fields.ts";
import { SMPP_PARTS } from "./smpp-fields.ts";
import { WHATSAPP_PARTS } from "./whatsapp-fields.ts";

/** A carrier protocol and the settings of its connection. */
export interface Adapter {
  value: string;
  label: string;
  about: string;
  fields: readonly Field[];
  starts: Values;
  /** Status and tests of the connection; null for the simulator. */
  line: RealLine | null;
}

/** Status and tests that a connection to a real carrier offers. */
export interface RealLine {
  channel: Channel;
  /** Connection test that sends no message; null if the protocol has none. */
  trial: { button: string; about: string; yes: string } | null;
  /** The place at the provider for our callback URL; null if the protocol has no callbacks. */
  callback: string | null;
  hasBinds: boolean;
  hasTemplates: boolean;
}

const lineOf = (name: string, parts: Parts, habits?: LineHabits): Pick<Adapter, "fields" | "starts"> => ({
  starts: { [name]: null },
  fields: [{ name, label: t("Connection"), input: { kind: "own", component: lineInput(name, parts, habits) }, parts }],
});

/** Every adapter. An entry here adds the form, the health panel and the option in the list. */
export const ADAPTERS: readonly Adapter[] = [
  {
    value: "simulator",
    label: t("Simulator"),
    about: t("A simulated carrier of its own, for testing several."),
    starts: { chaos: null },
    line: null,
    fields: [
      {
        name: "chaos",
        label: t("Use separate chaos settings"),
        hint: t("Otherwise the account's simulator settings apply."),
        input: { kind: "own", component: ChaosInput },
        absent: null,
      },
    ],
  },
  {
    value: "smpp",
    label: "SMPP",
    about: t("SMS over an SMPP bind."),
    ...lineOf("smpp", SMPP_PARTS),
    line: {
      channel: "sms",
      trial: {
        button: t("Test bind"),
        about: t("Opens one more bind with the saved settings. The carrier refuses it if no further bind is allowed."),
        yes: t("Bind succeeded"),
      },
      callback: null,
      hasBinds: true,
      hasTemplates: false,
    },
  },
  {
    value: "http",
    label: "HTTP",
    about: t("SMS over a provider's HTTP API, such as Twilio or Kannel."),
    ...lineOf("http", HTTP_PARTS, { set: setHttp, faultAt: httpFault }),
    line: {
      channel: "sms",
      trial: null,
      callback: t(
        "Known providers get this URL with every message for delivery reports. For incoming messages, enter it at the provider with ?key= and the callback key.",
      ),
      hasBinds: false,
      hasTemplates: false,
    },
  },
  {
    value: "whatsapp",
    label: "WhatsApp",
    about: t("Chat-app messages over the WhatsApp Cloud API."),
    ...lineOf("whatsapp", WHATSAPP_PARTS),
    line: {
      channel: "chatapp",
      trial: {
        button: t("Try it"),
        about: t("Checks the number with the platform, using the saved settings. No message is sent."),
        yes: t("Connection succeeded"),
      },
      callback: t(
        "Enter it with your verify token in Meta's app under WhatsApp › Configuration, and subscribe to messages and message_template_status_update.",
      ),
      hasBinds: false,
      hasTemplates: true,
    },
  },
  {
    value: "rbm",
    label: t("RCS for Business"),
    about: t("RCS messages over Google's platform."),
    ...lineOf("rbm", RBM_PARTS),
    line: {
      channel: "rcs",
      trial: {
        button: t("Try it"),
        about: t("Checks the key with the platform, using the saved settings. No message is sent."),
        yes: t("Connection succeeded"),
      },
      callback: t(
        "Enter it with the client token as the webhook of your agent in the console of RCS for Business, and press Verify.",
      ),
      hasBinds: false,
      hasTemplates: false,
    },
  },
  {
    value: "email",
    label: t("E-mail (SMTP)"),
    about: t("Codes by e-mail over a mail server."),
    ...lineOf("email", EMAIL_PARTS),
    line: {
      channel: "email",
      trial: {
        button: t("Try it"),
        about: t("Connects, verifies the certificate and logs in, using the saved settings. No e-mail is sent."),
        yes: t("Connection succeeded"),
      },
      callback: null,
      hasBinds: false,
      hasTemplates: false,
    },
  },
];

export const adapterOf = (value: string): Adapter | undefined => ADAPTERS.find((adapter) => adapter.value === value);
