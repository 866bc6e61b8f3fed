import type { ChatButton, PhoneMessage, Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { withNumbers } from "../templates/variables.ts";
import { numbersIn } from "./body.ts";
import type { Draft, Kind } from "./kinds.ts";

/** A template's text with its values: `{#var#}` in order, `{{1}}` by number. */
export function filledIn(pattern: string, values: readonly string[]): string {
  let next = 0;
  return pattern.replaceAll(/\{#var#\}|\{\{(\d+)\}\}/g, (place, number?: string) => {
    const value = values[number === undefined ? next++ : Number(number) - 1];
    return value === undefined || value === "" ? place : value;
  });
}

/** The message as a phone shows it, without fetching its links. */
export function previewOf(kind: Kind, draft: Draft, template: Template | undefined, now: number): PhoneMessage {
  const base = {
    id: "preview",
    messageId: "preview",
    to: numbersIn(draft.to)[0] ?? "",
    channel: kind.channel,
    receivedAt: now,
  };
  const unknown = t("Template {value}", { value: draft.templateName || "…" });
  if (kind.channel === "sms") {
    const text = kind.writesText ? draft.text : (template?.channel === "sms" && template.text) || unknown;
    const shown = kind.writesText
      ? text.replaceAll("{SORT}", `${location.host}/s/aB3dE5f`)
      : filledIn(text, draft.params);
    return { ...base, sender: draft.sender, text: shown, flash: kind.flags?.flash === 1 };
  }
  if (kind.channel === "rcs") {
    if (template?.channel !== "rcs") return { ...base, sender: draft.botId, text: unknown };
    const cards = template.cards.map((card, index) => ({
      ...card,
      fileUrl: (kind.ownImages && draft.fileUrls[index]) || card.fileUrl,
    }));
    const text = template.text === null ? "" : filledIn(template.text, draft.params);
    return { ...base, sender: draft.botId, kind: template.kind, text, suggestions: template.suggestions, cards };
  }
  if (template?.channel !== "chatapp") return { ...base, sender: draft.from, text: unknown };
  const headerType = kind.ownHeader ? template.header?.type : kind.headerType;
  const place = {
    latitude: Number(draft.latitude),
    longitude: Number(draft.longitude),
    name: draft.placeName,
    address: draft.address,
  };
  const header =
    headerType === undefined
      ? null
      : {
          type: headerType,
          text: draft.headerText,
          link: draft.link,
          ...(headerType === "location" && { location: place }),
        };
  const filledButtons = (buttons: readonly ChatButton[], values: readonly string[]): ChatButton[] =>
    buttons.map((button, index) => {
      const value = values[index] ?? "";
      return value === "" ? button : { ...button, ...(button.url && { url: button.url.replace("{{1}}", value) }) };
    });
  const cards = template.cards ?? [];
  const expiresAt = draft.offerEnds === "" ? null : new Date(draft.offerEnds).getTime();
  return {
    ...base,
    sender: draft.from,
    header,
    text: filledIn(withNumbers(template.body ?? unknown), draft.params),
    footer: template.footer,
    buttons: filledButtons(template.buttons, draft.buttons),
    ...(template.offer && { offer: { text: template.offer.text, expiresAt } }),
    ...(cards.length > 0 && {
      carousel: cards.map((card, index) => {
        const { link, params, buttons } = draft.cards[index] ?? { link: "", params: [], buttons: [] };
        return {
          header: { ...card.header, ...(link !== "" && { link }) },
          text: card.body ? filledIn(withNumbers(card.body), params) : null,
          buttons: filledButtons(card.buttons, buttons),
        };
      }),
    }),
  };
}
