import { readWay, waysDraft, type WayDraft } from "../channels/ways/read.ts";
import type { AudienceLayout, AudienceRecipient } from "../model/audience.ts";
import type { Campaign, CampaignWay, SkippedRow } from "../model/campaign.ts";
import type { SmsLimits } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import { prepareWays } from "../pipeline/accept/prepare-ways.ts";
import type { Prepared, PrepareDeps } from "../pipeline/accept/prepare.ts";
import { compile, isPersonal, lengthOf, placeIn, render, type Compiled } from "./placeholders.ts";
import type { CampaignRequests, Selection, Sending } from "./requests.ts";
import { mapTexts, textsIn } from "./way-texts.ts";

/** Characters of all ways with the values of one recipient. A column can stand in them hundreds of times. */
const FILLED_MAX = 20_000;

interface CompiledWay {
  way: CampaignWay;
  /** By path of the text. */
  texts: ReadonlyMap<string, Compiled>;
  isPersonal: boolean;
}

const isBlank = (way: WayDraft): boolean => way.channel === "sms" && way.text?.trim() === "";

/** The requests of a campaign with several channels: its ways with each recipient's values are read like those of a send. */
export class WaysRequests implements CampaignRequests {
  readonly isPersonal: boolean;
  readonly #campaign: Campaign;
  readonly #rules: SmsLimits;
  readonly #now: number;
  readonly #ways: readonly CompiledWay[];
  /** The ways of selected recipients, by row. */
  readonly #read = new Map<number, readonly WayDraft[]>();

  constructor(
    campaign: Campaign,
    ways: readonly CampaignWay[],
    layout: Pick<AudienceLayout, "variables">,
    rules: SmsLimits,
    now: number,
  ) {
    this.#campaign = campaign;
    this.#now = now;
    this.#rules = rules;
    const placeOf = placeIn(layout);
    this.#ways = ways.map((way) => {
      const texts = new Map(textsIn(way).map(({ path, text }) => [path, compile(text, placeOf)]));
      return { way, texts, isPersonal: [...texts.values()].some(isPersonal) };
    });
    this.isPersonal = this.#ways.some((way) => way.isPersonal);
  }

  isShared(text: string): boolean {
    return this.#ways.some(({ texts }) =>
      [...texts.values()].some((parts) => !isPersonal(parts) && render(parts, []) === text),
    );
  }

  select(recipients: readonly AudienceRecipient[]): Selection {
    if (!this.isPersonal) return { fit: recipients, skipped: [] };
    const fit: AudienceRecipient[] = [];
    const skipped: SkippedRow[] = [];
    for (const recipient of recipients) {
      const code = this.#refusalOf(recipient);
      if (code === null) fit.push(recipient);
      else skipped.push({ row: recipient.row, code });
    }
    return { fit, skipped };
  }

  prepare(deps: PrepareDeps, sending: Sending, recipients: readonly AudienceRecipient[]): Promise<Prepared> {
    const { name, message } = this.#campaign;
    const common = { routeClass: message.type, campaignName: name, sendAt: null };
    const to = recipients.map(({ number }) => ({ number, written: null, failure: null }));
    const own = this.isPersonal ? recipients : recipients.slice(0, 1);
    const read = own.map((recipient) => this.#read.get(recipient.row) ?? this.#readFor(recipient));
    const readings = this.#ways.map((way, place) =>
      (way.isPersonal ? read : read.slice(0, 1)).flatMap((ways) => ways[place] ?? []),
    );
    const draft = waysDraft(common, to, readings, message.moveOnAfterSeconds ?? 0);
    return prepareWays(deps, { ...sending, draft });
  }

  #refusalOf(recipient: AudienceRecipient): SkippedRow["code"] | null {
    const length = this.#ways.reduce(
      (sum, { texts }) => [...texts.values()].reduce((rest, parts) => rest + lengthOf(parts, recipient.values), sum),
      0,
    );
    if (length > FILLED_MAX) return "MESSAGE_TOO_LONG";
    try {
      const read = this.#readFor(recipient);
      this.#read.set(recipient.row, read);
      return read.some(isBlank) ? "TEXT_EMPTY" : null;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return error.code === "MESSAGE_TOO_LONG" ? "MESSAGE_TOO_LONG" : "VALUE_REFUSED";
    }
  }

  #readFor({ values }: AudienceRecipient): readonly WayDraft[] {
    return this.#ways.map(({ way, texts }, index) => {
      const filled = mapTexts(way, (text, path) => render(texts.get(path) ?? [text], values));
      const read = readWay(filled, index, this.#campaign.message.type, this.#rules, this.#now);
      if (read instanceof Problem) throw read;
      return read;
    });
  }
}
