import type { SmsDraft } from "../channels/sms/read.ts";
import { readTemplateText, renderTemplate } from "../channels/template.ts";
import { joinWithOr } from "../lib/text.ts";
import type { AudienceLayout, AudienceRecipient } from "../model/audience.ts";
import type { Campaign, CampaignMessage, SkippedRow } from "../model/campaign.ts";
import type { Fault } from "../model/problem.ts";

/** A column of the audience: `{{first name}}`. */
const COLUMN = /\{\{([^{}]+)\}\}/g;

const columnsIn = (text: string): string[] => [...text.matchAll(COLUMN)].map(([, name = ""]) => name.trim());

/** A text in parts: fixed text, or the place of a variable in the audience. */
type Compiled = readonly (string | number)[];

function compile(text: string, placeOf: (column: string) => number): Compiled {
  const parts: (string | number)[] = [];
  let end = 0;
  for (const { 0: placeholder, 1: name = "", index } of text.matchAll(COLUMN)) {
    if (index > end) parts.push(text.slice(end, index));
    parts.push(placeOf(name.trim()));
    end = index + placeholder.length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

const render = (parts: Compiled, values: readonly string[]): string =>
  parts.map((part) => (typeof part === "number" ? (values[part] ?? "") : part)).join("");

/** Faults of a message by its field; without a layout, the columns are not known yet. */
export function messageFaults(
  { text, templateId, custom }: CampaignMessage,
  layout: Pick<AudienceLayout, "variables"> | null,
): Fault[] {
  const faults: Fault[] = [];
  if (text === null && templateId === null)
    faults.push({ parameter: "text", message: "Give the text, or templateId with custom." });
  if (text !== null && templateId !== null)
    faults.push({ parameter: "text", message: "Give either text, or templateId with custom, not both." });
  if (text !== null && custom !== null)
    faults.push({ parameter: "custom", message: "custom fills the variables of a template: leave it out, or null." });
  if (text === null && templateId !== null && custom === null)
    faults.push({ parameter: "custom", message: "Give one value per variable of the template, in order." });
  if (text?.includes("{#var#}"))
    faults.push({ parameter: "text", message: "Write columns as {{name}}: {#var#} is for stored templates." });
  const known = layout?.variables.map(({ name }) => name.trim()) ?? null;
  const check = (parameter: string, written: string): void => {
    const unknown = known && columnsIn(written).find((column) => !known.includes(column));
    if (typeof unknown === "string") faults.push({ parameter, message: unknownColumn(unknown, known ?? []) });
  };
  if (text !== null) check("text", text);
  custom?.forEach((value, index) => check(`custom[${index}]`, value));
  return faults;
}

const unknownColumn = (column: string, known: readonly string[]): string =>
  known.length === 0
    ? `The audience has no variables: leave out {{${column}}}.`
    : `The audience has no variable ${JSON.stringify(column)}: use ${joinWithOr(known.map((name) => JSON.stringify(name)))}.`;

/** Builds the drafts of a campaign for recipients of its audience. */
export class CampaignDrafts {
  readonly #campaign: Campaign;
  /** The text with numbered placeholders, and the variables in their order. */
  readonly #text: string | null;
  readonly #values: readonly Compiled[];
  /** The parts that the values of a recipient become part of. */
  readonly #measured: readonly Compiled[];

  constructor(campaign: Campaign, { variables }: Pick<AudienceLayout, "variables">) {
    this.#campaign = campaign;
    const placeOf = (column: string): number => variables.findIndex(({ name }) => name.trim() === column);
    const { text, custom } = campaign.message;
    if (text === null) {
      this.#text = null;
      this.#values = (custom ?? []).map((value) => compile(value, placeOf));
      this.#measured = this.#values;
    } else {
      const columns = [...new Set(columnsIn(text))];
      this.#text = compile(text, (column) => columns.indexOf(column))
        .map((part) => (typeof part === "number" ? `{{${part + 1}}}` : part))
        .join("");
      this.#values = columns.map((column) => [placeOf(column)]);
      this.#measured = [compile(text, placeOf)];
    }
  }

  /** True if a recipient's values change the message. */
  get isPersonal(): boolean {
    return this.#values.some((parts) => parts.some((part) => typeof part === "number"));
  }

  /**
   * True if the values of a recipient alone make the text too long. They are counted and not written: a column can stand in a
   * text hundreds of times, so the texts of one batch could fill the memory.
   */
  isTooLong({ values }: AudienceRecipient, textMax: number): boolean {
    if (!this.isPersonal) return false;
    let length = 0;
    for (const parts of this.#measured)
      for (const part of parts) length += typeof part === "number" ? (values[part]?.length ?? 0) : part.length;
    return length > textMax;
  }

  of(recipients: readonly AudienceRecipient[]): SmsDraft {
    const { name, message } = this.#campaign;
    const { isPersonal } = this;
    const fixed = this.#values.map((parts) => render(parts, []));
    return {
      channel: "sms",
      sender: message.sender,
      routeClass: message.type,
      text: this.#text,
      templateId: message.templateId,
      custom: isPersonal || this.#text !== null ? null : fixed,
      targets: null,
      sendAt: null,
      campaignName: name,
      recipients: recipients.map(({ number, values }) => ({
        number,
        written: null,
        failure: null,
        custom: isPersonal ? this.#valuesFor(values) : null,
      })),
    };
  }

  /** The recipients whose text is neither empty nor too long by their values, and the rows of the others. */
  withText(
    recipients: readonly AudienceRecipient[],
    textMax: number,
  ): { full: AudienceRecipient[]; skipped: SkippedRow[] } {
    const pattern = this.#text === null || !this.isPersonal ? null : readTemplateText(this.#text);
    const isEmpty = ({ values }: AudienceRecipient): boolean =>
      pattern !== null && !("fault" in pattern) && renderTemplate(pattern, this.#valuesFor(values)).trim() === "";
    const full: AudienceRecipient[] = [];
    const skipped: SkippedRow[] = [];
    for (const recipient of recipients) {
      if (this.isTooLong(recipient, textMax)) skipped.push({ row: recipient.row, code: "MESSAGE_TOO_LONG" });
      else if (isEmpty(recipient)) skipped.push({ row: recipient.row, code: "TEXT_EMPTY" });
      else full.push(recipient);
    }
    return { full, skipped };
  }

  readonly #valuesFor = (values: readonly string[]): string[] => this.#values.map((parts) => render(parts, values));
}
