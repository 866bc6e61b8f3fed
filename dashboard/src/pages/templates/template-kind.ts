import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import type { Field, Option, Values } from "../../parts/record/field.ts";
import { ChatCardsInput, LanguagesInput, OfferInput } from "./chat-inputs.tsx";
import { ButtonsInput, CardsInput, HeaderInput, SuggestionsInput } from "./list-inputs.tsx";
import { BodyInput, SmsTextInput } from "./variable-text.tsx";
import { variablesIn, withNumbers } from "./variables.ts";

/** Fields and page paths of the templates of one channel. */
interface TemplateKind {
  title: string;
  lead: string;
  /** Path of its pages. */
  place: string;
  fields: readonly Field[];
  starts: Values;
}

const STATUSES: readonly Option[] = [
  { value: "approved", label: t("Approved") },
  { value: "draft", label: t("Draft") },
  { value: "paused", label: t("Paused") },
];

const CATEGORIES: readonly Option[] = [
  { value: "utility", label: t("Utility") },
  { value: "marketing", label: t("Marketing") },
  { value: "authentication", label: t("Authentication") },
];

const status: Field = {
  name: "status",
  label: t("Status"),
  hint: t("Only approved templates can be sent."),
  input: { kind: "choice", options: STATUSES },
};

const name = (hint: string, placeholder: string): Field => ({
  name: "name",
  label: t("Name"),
  hint,
  input: { kind: "text", placeholder },
  required: true,
});

const hasText = ({ kind }: Values): boolean => kind === "text" || kind === "rich";

export const TEMPLATE_KINDS: Readonly<Record<SendChannel, TemplateKind>> = {
  sms: {
    title: t("SMS templates"),
    lead: t("Texts with variables, which requests name by templateId."),
    place: "/message-app/templates",
    starts: { channel: "sms", name: "", text: "", dltContentId: null, dltEntityId: null },
    fields: [
      name(t("Use this as templateId in the API."), "welcome"),
      {
        name: "text",
        label: t("Text"),
        hint: t("Use {#var#} for variables in order, or {{1}}, {{2}} for variables by number."),
        input: { kind: "own", component: SmsTextInput },
        secretFree: true,
        required: true,
      },
      {
        name: "dltContentId",
        label: t("DLT template ID (India)"),
        hint: t("Content template ID of this text in your DLT registration."),
        input: { kind: "text" },
        more: true,
      },
      {
        name: "dltEntityId",
        label: t("DLT entity ID (India)"),
        hint: t("Principal entity ID of the sender in your DLT registration."),
        input: { kind: "text" },
        more: true,
      },
    ],
  },
  rcs: {
    title: t("RCS templates"),
    lead: t("Texts, cards and carousels, which requests name by templateName."),
    place: "/rcs/templates",
    starts: { channel: "rcs", name: "", kind: "text", text: "", suggestions: [], cards: [], status: "approved" },
    fields: [
      name(t("Use this as templateName in the API."), "order-shipped"),
      {
        name: "kind",
        label: t("Kind"),
        input: {
          kind: "choice",
          options: [
            { value: "text", label: t("Plain text") },
            { value: "rich", label: t("Text with buttons") },
            { value: "card", label: t("Standalone card") },
            { value: "carousel", label: t("Carousel of cards") },
          ],
        },
        required: true,
      },
      {
        name: "text",
        label: t("Text"),
        hint: t("Use {{1}}, {{2}} for variables."),
        input: { kind: "own", component: BodyInput },
        secretFree: true,
        when: hasText,
        absent: null,
        required: true,
      },
      {
        name: "suggestions",
        label: t("Buttons"),
        input: { kind: "own", component: SuggestionsInput },
        secretFree: true,
        when: ({ kind }) => kind === "rich",
        absent: [],
      },
      {
        name: "cards",
        label: t("Cards"),
        input: { kind: "own", component: CardsInput },
        secretFree: true,
        when: (values) => !hasText(values),
        absent: [],
      },
      status,
    ],
  },
  chatapp: {
    title: t("Chat app templates"),
    lead: t("Messages with header, text, footer and buttons, which requests name by templateName."),
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
      offer: null,
      cards: [],
      languages: [],
    },
    fields: [
      name(t("Use this as templateName in the API. Lower-case letters, digits and underscores."), "order_shipped"),
      { name: "header", label: t("Header"), input: { kind: "own", component: HeaderInput }, secretFree: true },
      {
        name: "body",
        label: t("Body"),
        hint: t("Use {{1}}, {{2}} for variables."),
        input: { kind: "own", component: BodyInput },
        secretFree: true,
        required: true,
      },
      { name: "footer", label: t("Footer"), input: { kind: "text", placeholder: t("None") } },
      { name: "buttons", label: t("Buttons"), input: { kind: "own", component: ButtonsInput }, secretFree: true },
      {
        name: "languages",
        label: t("Languages"),
        hint: t("The same template in other languages. A message takes the one of its recipient."),
        input: { kind: "own", component: LanguagesInput },
        secretFree: true,
      },
      {
        name: "offer",
        label: t("Limited-time offer"),
        hint: t("Words of at most 16 characters beside the time that is left. Marketing only, without a footer."),
        input: { kind: "own", component: OfferInput },
        secretFree: true,
        more: true,
      },
      {
        name: "cards",
        label: t("Cards"),
        hint: t("A carousel of 2 to 10 cards below the body. Marketing only, without header, footer and buttons."),
        input: { kind: "own", component: ChatCardsInput },
        secretFree: true,
        more: true,
      },
      {
        name: "category",
        label: t("Category"),
        hint: t("Marketing respects the opt-out list and is sent last; authentication is sent first."),
        input: { kind: "choice", options: CATEGORIES },
        more: true,
      },
      {
        name: "language",
        label: t("Own language"),
        hint: t("Such as en or pt_BR."),
        input: { kind: "text" },
        required: true,
        more: true,
      },
      { ...status, more: true },
    ],
  },
};

/** The template with the unsaved values of the editor. */
export function templateOf(values: Values): Template {
  const written = values as unknown as Template;
  const text = written.channel === "chatapp" ? written.body : written.text;
  const own = written.channel === "rcs" && !hasText(values) ? "" : (text ?? "");
  const pattern = written.channel === "chatapp" ? withNumbers(own) : own;
  return { ...written, variables: own === "" ? (written.variables ?? 0) : variablesIn(pattern) };
}
