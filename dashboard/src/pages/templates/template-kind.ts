import type { Template } from "../../api-types.ts";
import type { Channel } from "../../parts/channel.tsx";
import type { Field, Option, Values } from "../../parts/record/field.ts";
import { ButtonsInput, CardsInput, HeaderInput, SuggestionsInput } from "./list-inputs.tsx";
import { BodyInput, SmsTextInput } from "./variable-text.tsx";
import { variablesIn } from "./variables.ts";

/** Templates of one channel, described: what is asked for and where its pages are. */
interface TemplateKind {
  title: string;
  lead: string;
  /** Where its pages are. */
  place: string;
  fields: readonly Field[];
  starts: Values;
}

const options = (...values: readonly string[]): Option[] =>
  values.map((value) => ({ value, label: value.slice(0, 1).toUpperCase() + value.slice(1) }));

const status: Field = {
  name: "status",
  label: "Status",
  hint: "Only an approved template can be sent.",
  input: { kind: "choice", options: options("approved", "draft", "paused") },
};

const name = (hint: string, placeholder: string): Field => ({
  name: "name",
  label: "Name",
  hint,
  input: { kind: "text", placeholder },
  required: true,
});

const hasText = ({ kind }: Values): boolean => kind === "text" || kind === "rich";

export const TEMPLATE_KINDS: Readonly<Record<Channel, TemplateKind>> = {
  sms: {
    title: "SMS templates",
    lead: "Texts that requests name by their templateId, with places for what changes.",
    place: "/message-app/templates",
    starts: { channel: "sms", name: "", text: "", dltContentId: null, dltEntityId: null },
    fields: [
      name("The templateId of requests.", "welcome"),
      {
        name: "text",
        label: "Text",
        hint: "{#var#} marks a value, in order; {{1}} and {{2}} mark them by number.",
        input: { kind: "own", component: SmsTextInput },
        required: true,
      },
      {
        name: "dltContentId",
        label: "DLT content id",
        hint: "Under which the operators of India know the text.",
        input: { kind: "text" },
        more: true,
      },
      {
        name: "dltEntityId",
        label: "DLT entity id",
        hint: "Under which they know who sends it.",
        input: { kind: "text" },
        more: true,
      },
    ],
  },
  rcs: {
    title: "RCS templates",
    lead: "Texts, cards and carousels that requests name by their templateName.",
    place: "/rcs/templates",
    starts: { channel: "rcs", name: "", kind: "text", text: "", suggestions: [], cards: [], status: "approved" },
    fields: [
      name("The templateName of requests.", "order-shipped"),
      {
        name: "kind",
        label: "Kind",
        input: {
          kind: "choice",
          options: [
            { value: "text", label: "Plain text" },
            { value: "rich", label: "Text with something to tap" },
            { value: "card", label: "Standalone card" },
            { value: "carousel", label: "Carousel of cards" },
          ],
        },
        required: true,
      },
      {
        name: "text",
        label: "Text",
        hint: "{{1}} and {{2}} mark what changes.",
        input: { kind: "own", component: BodyInput },
        when: hasText,
        absent: null,
        required: true,
      },
      {
        name: "suggestions",
        label: "To tap below it",
        input: { kind: "own", component: SuggestionsInput },
        when: ({ kind }) => kind === "rich",
        absent: [],
      },
      {
        name: "cards",
        label: "Cards",
        input: { kind: "own", component: CardsInput },
        when: (values) => !hasText(values),
        absent: [],
      },
      status,
    ],
  },
  chatapp: {
    title: "Chat app templates",
    lead: "Messages that requests name by their templateName: a header, words, a footer, and buttons.",
    place: "/chat-app/templates",
    starts: {
      channel: "chatapp",
      name: "",
      language: "en",
      category: "utility",
      status: "approved",
      header: null,
      body: "",
      footer: null,
      buttons: [],
    },
    fields: [
      name("The templateName of requests: small letters, digits and underscores.", "order_shipped"),
      { name: "header", label: "Header", input: { kind: "own", component: HeaderInput } },
      {
        name: "body",
        label: "Body",
        hint: "{{1}} and {{2}} mark what changes.",
        input: { kind: "own", component: BodyInput },
        required: true,
      },
      { name: "footer", label: "Footer", input: { kind: "text", placeholder: "None" } },
      { name: "buttons", label: "Buttons", input: { kind: "own", component: ButtonsInput } },
      {
        name: "category",
        label: "Category",
        hint: "Marketing obeys the opt-out list and goes last, authentication goes first.",
        input: { kind: "choice", options: options("utility", "marketing", "authentication") },
        more: true,
      },
      {
        name: "language",
        label: "Language",
        hint: "Like en or pt_BR.",
        input: { kind: "text" },
        required: true,
        more: true,
      },
      { ...status, more: true },
    ],
  },
};

/** A template as it is while it is being written. */
export function templateOf(values: Values): Template {
  const written = values as unknown as Template;
  const text = written.channel === "chatapp" ? written.body : written.text;
  const own = written.channel === "rcs" && !hasText(values) ? "" : (text ?? "");
  return { ...written, variables: own === "" ? (written.variables ?? 0) : variablesIn(own) };
}
