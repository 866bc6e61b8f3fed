import { seededRandom, type Random } from "../torture/random.ts";
import { NUMBERS, type Answered, type Clients } from "./clients.ts";
import type { Attempt } from "./node.ts";
import type { Stops } from "./stops.ts";

/** A campaign to an audience, with everything that its owner knows of it. */
interface AudienceCampaign {
  name: string;
  /** Numbers that it must reach. */
  numbers: readonly string[];
  id: string | null;
  /** State and failure as they were read last. */
  state: string | null;
  failure: string | null;
}

interface CampaignView {
  id: string;
  name: string;
  state: string;
  failure: { code: string } | null;
}

interface AudienceView {
  state: string;
  received: number;
  rows: number;
  recipients: number;
  faults: number;
  duplicates: number;
}

/** Messages in an hour. The pipeline accepts those of a second at once. */
const THROTTLES = [null, null, 3600, 18_000, 36_000];
const RECIPIENTS_MAX = 60;
const CHECKED_WITHIN_MS = 300_000;
const LOOK_MS = 2000;
const ENDS_WITHIN_MS = 1_800_000;
const RESUMED_AGAIN_MS = 30_000;

/** People who upload files with recipients, send campaigns to them, and stop and continue these at any node. */
export class AudienceCampaigns {
  readonly all: AudienceCampaign[] = [];
  readonly #clients: Clients;
  readonly #stops: Stops;

  constructor(clients: Clients, stops: Stops) {
    this.#clients = clients;
    this.#stops = stops;
  }

  /** Uploads a file and sends a campaign to it; often it is stopped soon. */
  async send(random: Random): Promise<void> {
    const clients = this.#clients;
    const name = `campaign ${random.seed()}`;
    const { csv, figures, numbers } = randomFile(random);
    const audienceId = await this.#upload(random, name, csv);
    if (audienceId === null) return;
    const audience = await this.#checked(random, audienceId);
    if (!audience) return;
    for (const [figure, wanted] of Object.entries(figures))
      if (audience[figure as keyof typeof figures] !== wanted)
        clients.complain(`${name} has ${audience[figure as keyof typeof figures]} ${figure} instead of ${wanted}`);
    const campaign: AudienceCampaign = { name, numbers, id: null, state: null, failure: null };
    const body = {
      name,
      type: random.pick(["TRANS", "PROMO"]),
      sender: "HELIOG",
      text: "Hello {{name}}!",
      audienceId,
      throttle: random.pick(THROTTLES),
    };
    const made = await clients.request(random, "POST", "/v1/campaigns", { body });
    campaign.id = await this.#idOf(random, made, name);
    if (campaign.id === null) return;
    this.all.push(campaign);
    await this.#begin(random, campaign);
    if (!random.chance(0.6)) return;
    await clients.pause(random.between(0, 3000));
    await this.control(random, campaign);
  }

  /** Pauses, resumes or cancels a campaign. */
  async control(random: Random, campaign = this.all.length === 0 ? null : random.pick(this.all)): Promise<void> {
    if (!campaign) return;
    const action = random.weighted({ pause: 6, resume: 4, cancel: 1, restart: 4 });
    if (action !== "restart") return this.#act(random, campaign, action);
    await this.#act(random, campaign, "pause");
    await this.#clients.pause(random.between(0, 5000));
    await this.#act(random, campaign, "resume");
  }

  /** Continues every campaign and waits for its end. */
  finishAll(): void {
    for (const campaign of this.all)
      this.#clients.begin("finish a campaign", () =>
        this.#finish(this.#clients.world.randomFor(campaign.name), campaign),
      );
  }

  async #finish(random: Random, campaign: AudienceCampaign): Promise<void> {
    const clients = this.#clients;
    const { world } = clients;
    const startedAt = world.now;
    let resumedAt: number | null = null;
    while (world.now - startedAt < ENDS_WITHIN_MS) {
      const { state, failure } = await this.#read(random, campaign);
      if (state === "finished") await this.#resumeName(random, campaign);
      if (state === "finished" || state === "cancelled") return;
      if (state === "draft") await this.#begin(random, campaign);
      if (state === "paused" && failure !== null) {
        if (failure !== "INSUFFICIENT_CREDITS") clients.complain(`${campaign.name} paused by itself: ${failure}`);
        await this.#act(random, campaign, "cancel");
      } else if (state === "paused") {
        if (resumedAt !== null && !this.#stops.isPauseAfter(resumedAt))
          clients.complain(`${campaign.name} was resumed, and is paused`);
        if (resumedAt === null || world.now - resumedAt > RESUMED_AGAIN_MS) {
          await this.#act(random, campaign, "resume");
          resumedAt = world.now;
        }
      }
      await clients.pause(LOOK_MS);
    }
    clients.complain(`${campaign.name} does not end: it is ${campaign.state}`);
  }

  /** A pause of the messages under the name also holds those of a finished campaign that wait for another attempt. */
  async #resumeName(random: Random, { name }: AudienceCampaign): Promise<void> {
    const found = await this.#findName(random, name);
    if (found?.status !== "paused") return;
    const onAttempt = (attempt: Partial<Attempt>): void => this.#stops.addLift(`pause of ${name}`, attempt);
    await this.#clients.request(random, "POST", `/api/campaigns/${found.id}/resume`, { onAttempt });
  }

  async #findName(random: Random, name: string): Promise<{ id: string; status: string } | null> {
    const list = await this.#clients.request(random, "GET", `/api/campaigns?q=${encodeURIComponent(name)}`);
    if (list?.answer.status !== 200) return null;
    return (list.answer.body as { data: { id: string; status: string }[] }).data[0] ?? null;
  }

  async #read(random: Random, campaign: AudienceCampaign): Promise<AudienceCampaign> {
    const got = await this.#clients.request(random, "GET", `/v1/campaigns/${campaign.id}`);
    if (got?.answer.status === 404) this.#clients.complain(`${campaign.name} was created and is not found`);
    if (got?.answer.status !== 200) return campaign;
    const { state, failure } = got.answer.body as CampaignView;
    campaign.state = state;
    campaign.failure = failure?.code ?? null;
    return campaign;
  }

  async #begin(random: Random, { id, name }: AudienceCampaign): Promise<void> {
    const { world } = this.#clients;
    const isLater = random.chance(0.2);
    const body = { scheduledAt: new Date(world.now + random.between(20_000, 40_000)).toISOString() };
    const action = isLater ? "schedule" : "start";
    const got = await this.#clients.request(random, "POST", `/v1/campaigns/${id}/${action}`, isLater ? { body } : {});
    if (got?.answer.status === 200) this.#clients.world.tell(`${name} is ${isLater ? "scheduled" : "started"}`);
  }

  async #act(random: Random, { id, name }: AudienceCampaign, action: "pause" | "resume" | "cancel"): Promise<void> {
    const { world } = this.#clients;
    const askedAt = world.now;
    const onAttempt = (attempt: Partial<Attempt>): void => {
      if (action === "resume") this.#stops.addLift(`pause of ${name}`, attempt);
      if (action === "pause") this.#stops.addPause(attempt);
    };
    const path = await this.#pathOf(random, { id, name });
    const got = await this.#clients.request(random, "POST", `${path}/${action}`, { onAttempt });
    this.#clients.count(`campaign ${action} ${got?.answer.status ?? "unanswered"}`);
    if (got?.answer.status !== 200) return;
    if (action === "resume") return world.tell(`${name} is resumed`);
    this.#stops.add(`${action} of ${name}`, askedAt, ({ campaignName }) => campaignName === name);
  }

  /** Its own page, or the one of the messages under its name. */
  async #pathOf(random: Random, { id, name }: Pick<AudienceCampaign, "id" | "name">): Promise<string> {
    const own = `/v1/campaigns/${id}`;
    if (this.#clients.isCalm || random.chance(0.7)) return own;
    const found = await this.#findName(random, name);
    return found ? `/api/campaigns/${found.id}` : own;
  }

  /** A repeated request may find the name taken, by the one whose answer was lost. */
  async #idOf(random: Random, made: Answered | null, name: string): Promise<string | null> {
    if (!made) return null;
    if (made.answer.status < 300) return (made.answer.body as CampaignView).id;
    if (!JSON.stringify(made.answer.body).includes("NAME_TAKEN")) {
      this.#clients.complain(`the draft of ${name} was answered ${JSON.stringify(made.answer.body)}`);
      return null;
    }
    const list = await this.#clients.request(random, "GET", "/v1/campaigns?limit=100");
    if (list?.answer.status !== 200) return null;
    const { data } = list.answer.body as { data: CampaignView[] };
    return data.find((each) => each.name === name)?.id ?? null;
  }

  /** Uploads a file in parts, each to any node; null without an answer. */
  async #upload(random: Random, name: string, csv: string): Promise<string | null> {
    const clients = this.#clients;
    const body = { name, size: csv.length };
    const made = await clients.request(random, "POST", "/v1/audiences", { body });
    if (!made || made.answer.status >= 300) return null;
    const { id } = made.answer.body as { id: string };
    const step = random.pick([csv.length, Math.ceil(csv.length / 3)]);
    for (let offset = 0; offset < csv.length; offset += step) {
      const part = { offset, text: csv.slice(offset, offset + step) };
      const got = await clients.request(random, "POST", `/v1/audiences/${id}/parts`, { body: part });
      if (!got) return null;
      if (got.answer.status !== 200) {
        clients.complain(`a part of ${name} was answered ${JSON.stringify(got.answer.body)}`);
        return null;
      }
    }
    return id;
  }

  /** Waits for the check of a file; null without an answer. */
  async #checked(random: Random, id: string): Promise<AudienceView | null> {
    const clients = this.#clients;
    const startedAt = clients.world.now;
    while (clients.world.now - startedAt < CHECKED_WITHIN_MS) {
      const got = await clients.request(random, "GET", `/v1/audiences/${id}`);
      if (got?.answer.status === 404) clients.complain(`the audience ${id} was created and is not found`);
      if (got?.answer.status !== 200) return null;
      const view = got.answer.body as AudienceView;
      if (view.state === "ready") return view;
      if (view.state !== "checking") {
        clients.complain(`the audience ${id} has all its parts and is ${view.state}`);
        return null;
      }
      await clients.pause(1000);
    }
    clients.complain(`the audience ${id} was not checked within ${CHECKED_WITHIN_MS} ms`);
    return null;
  }
}

/** A file with duplicates and faults, and what its check has to find. */
function randomFile(random: Random): {
  csv: string;
  figures: Pick<AudienceView, "rows" | "recipients" | "faults" | "duplicates">;
  numbers: readonly string[];
} {
  const rows: string[] = [];
  const numbers = new Set<string>();
  const count = random.between(1, RECIPIENTS_MAX);
  const own = seededRandom(random.seed());
  let faults = 0;
  for (let row = 0; row < count; row += 1) {
    const known = [...numbers];
    const kind = own.weighted({ number: 18, duplicate: known.length > 0 ? 1 : 0, fault: numbers.size > 0 ? 1 : 0 });
    const fresh = own.chance(0.3) ? own.pick(NUMBERS) : `1202555${own.between(3000, 3999)}`;
    const number = kind === "duplicate" ? own.pick(known) : fresh;
    if (kind === "fault") faults += 1;
    else numbers.add(number);
    rows.push(`${kind === "fault" ? "no number" : number},Person ${row}`);
  }
  const figures = {
    rows: rows.length,
    recipients: numbers.size,
    faults,
    duplicates: rows.length - faults - numbers.size,
  };
  return { csv: `phone,name\n${rows.join("\n")}\n`, figures, numbers: [...numbers] };
}
