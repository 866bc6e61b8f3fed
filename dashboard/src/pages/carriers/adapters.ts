import type { Channel } from "../../parts/channel.tsx";
import type { Field, Parts, Values } from "../../parts/record/field.ts";
import { ChaosInput } from "./chaos-input.tsx";
import { httpFault } from "./http-faults.ts";
import { HTTP_PARTS, setHttp } from "./http-fields.ts";
import { lineInput, type LineHabits } from "./line-input.tsx";
import { RBM_PARTS } from "./rbm-fields.ts";
import { SMPP_PARTS } from "./smpp-fields.ts";
import { WHATSAPP_PARTS } from "./whatsapp-fields.ts";

/** What a line speaks, and what it asks for besides a name and a speed. */
export interface Adapter {
  value: string;
  label: string;
  about: string;
  fields: readonly Field[];
  starts: Values;
  /** What there is to see and to try of a line with somebody at its other end; null where there is nobody. */
  line: RealLine | null;
}

/** What a line to a real carrier can show. */
export interface RealLine {
  channel: Channel;
  /** How it is asked whether it knows us, without sending anything; null where only a message shows it. */
  trial: { button: string; about: string; yes: string } | null;
  /** Where its callback address is to be entered; null where nobody calls back. */
  callback: string | null;
  hasBinds: boolean;
  hasTemplates: boolean;
}

const lineOf = (name: string, parts: Parts, habits?: LineHabits): Pick<Adapter, "fields" | "starts"> => ({
  starts: { [name]: null },
  fields: [{ name, label: "The line", input: { kind: "own", component: lineInput(name, parts, habits) }, parts }],
});

/** Every adapter. One that is added here has its form, its health and its place in the list. */
export const ADAPTERS: readonly Adapter[] = [
  {
    value: "simulator",
    label: "Simulator",
    about: "A simulated line of its own, to try out several.",
    starts: { chaos: null },
    line: null,
    fields: [
      {
        name: "chaos",
        label: "It misbehaves in its own way",
        hint: "Otherwise as the account's simulator does.",
        input: { kind: "own", component: ChaosInput },
        absent: null,
      },
    ],
  },
  {
    value: "smpp",
    label: "SMPP",
    about: "A carrier of text messages, which we bind to.",
    ...lineOf("smpp", SMPP_PARTS),
    line: {
      channel: "sms",
      trial: {
        button: "Try to bind",
        about:
          "Once more beside the binds that there are, with the saved settings. A carrier that allows no further bind refuses it.",
        yes: "It can be bound",
      },
      callback: null,
      hasBinds: true,
      hasTemplates: false,
    },
  },
  {
    value: "http",
    label: "HTTP",
    about: "A provider of text messages with an HTTP API, such as Twilio, or Kannel.",
    ...lineOf("http", HTTP_PARTS, { set: setHttp, faultAt: httpFault }),
    line: {
      channel: "sms",
      trial: null,
      callback:
        "Reports need no entry with a provider that is known: every message names this address. For what phones send, enter it with ?key= and the callback key where the provider asks for the address of incoming messages.",
      hasBinds: false,
      hasTemplates: false,
    },
  },
  {
    value: "whatsapp",
    label: "WhatsApp",
    about: "Chat-app messages by the WhatsApp Cloud API.",
    ...lineOf("whatsapp", WHATSAPP_PARTS),
    line: {
      channel: "chatapp",
      trial: {
        button: "Try it",
        about: "Asks the platform about the number, with the saved settings. Nothing is sent.",
        yes: "The platform knows us",
      },
      callback:
        "Enter it with your verify token in Meta's app under WhatsApp › Configuration, and subscribe to messages and message_template_status_update.",
      hasBinds: false,
      hasTemplates: true,
    },
  },
  {
    value: "rbm",
    label: "RCS for Business",
    about: "RCS messages by Google.",
    ...lineOf("rbm", RBM_PARTS),
    line: {
      channel: "rcs",
      trial: {
        button: "Try it",
        about: "Asks the platform whether it knows the key, with the saved settings. Nothing is sent.",
        yes: "The platform knows us",
      },
      callback:
        "Enter it with the client token as the webhook of your agent in the console of RCS for Business, and press Verify.",
      hasBinds: false,
      hasTemplates: false,
    },
  },
];

export const adapterOf = (value: string): Adapter | undefined => ADAPTERS.find((adapter) => adapter.value === value);
