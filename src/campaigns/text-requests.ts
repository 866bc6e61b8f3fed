import type { SmsDraft } from "../channels/sms/read.ts";
import { readTemplateText, renderTemplate } from "../channels/template.ts";
import type { AudienceLayout, AudienceRecipient } from "../model/audience.ts";
import type { Campaign } from "../model/campaign.ts";
import { prepareSms } from "../pipeline/accept/prepare-sms.ts";
import type { Prepared, PrepareDeps } from "../pipeline/accept/prepare.ts";
import { columnsIn, compile, isPersonal, lengthOf, placeIn, render, type Compiled } from "./placeholders.ts";
import type { CampaignRequests, Selection, Sending } from "./requests.ts";

/** The requests of a campaign that has a text or a template: an SMS to each recipient. */
export class TextRequests implements CampaignRequests {
  readonly isPersonal: boolean;
  readonly #campaign: Campaign;
  readonly #textMax: number;
  /** The text with numbered placeholders, and the variables in their order. */
  readonly #text: string | null;
  readonly #values: readonly Compiled[];
  /** The parts that the values of a recipient become part of. */
  readonly #measured: readonly Compiled[];

  constructor(campaign: Campaign, layout: Pick<AudienceLayout, "variables">, textMax: number) {
    this.#campaign = campaign;
    this.#textMax = textMax;
    const placeOf = placeIn(layout);
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
    this.isPersonal = this.#values.some(isPersonal);
  }

  /** An SMS has no files, whose links a recipient could have of its own. */
  isShared(): boolean {
    return true;
  }

  select(recipients: readonly AudienceRecipient[]): Selection {
    if (!this.isPersonal) return { fit: recipients, skipped: [] };
    const pattern = this.#text === null ? null : readTemplateText(this.#text);
    const isEmpty = ({ values }: AudienceRecipient): boolean =>
      pattern !== null && !("fault" in pattern) && renderTemplate(pattern, this.#valuesFor(values)).trim() === "";
    const fit: AudienceRecipient[] = [];
    const skipped: Selection["skipped"][number][] = [];
    for (const recipient of recipients) {
      if (this.#isTooLong(recipient)) skipped.push({ row: recipient.row, code: "MESSAGE_TOO_LONG" });
      else if (isEmpty(recipient)) skipped.push({ row: recipient.row, code: "TEXT_EMPTY" });
      else fit.push(recipient);
    }
    return { fit, skipped };
  }

  prepare(deps: PrepareDeps, sending: Sending, recipients: readonly AudienceRecipient[]): Promise<Prepared> {
    return prepareSms(deps, { ...sending, draft: this.#draftFor(recipients) });
  }

  /** A column can stand in a text hundreds of times, so the texts of one batch could fill the memory. */
  #isTooLong({ values }: AudienceRecipient): boolean {
    return this.#measured.reduce((sum, parts) => sum + lengthOf(parts, values), 0) > this.#textMax;
  }

  #draftFor(recipients: readonly AudienceRecipient[]): SmsDraft {
    const { name, message } = this.#campaign;
    const { isPersonal: own } = this;
    const fixed = this.#values.map((parts) => render(parts, []));
    return {
      channel: "sms",
      sender: message.sender,
      routeClass: message.type,
      text: this.#text,
      templateId: message.templateId,
      custom: own || this.#text !== null ? null : fixed,
      targets: message.targets,
      sendAt: null,
      campaignName: name,
      recipients: recipients.map(({ number, values }) => ({
        number,
        written: null,
        failure: null,
        custom: own ? this.#valuesFor(values) : null,
      })),
    };
  }

  readonly #valuesFor = (values: readonly string[]): string[] => this.#values.map((parts) => render(parts, values));
}
