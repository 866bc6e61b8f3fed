import type { RouteClass } from "../../src/model/message.ts";
import { seededRandom, type Random } from "../torture/random.ts";
import { AudienceCampaigns } from "./audience-campaigns.ts";
import type { CarrierNetwork } from "./carrier-network.ts";
import { Clients, isRefusal, NUMBERS, type ClientsDeps } from "./clients.ts";
import { EventReaders } from "./event-readers.ts";
import type { Attempt, SimulatedNode } from "./node.ts";
import { Operators } from "./operators.ts";
import { Stops } from "./stops.ts";
import { Verifiers } from "./verifiers.ts";

/** A request to send, with everything that its sender learned about it. */
export interface Sent {
  key: string;
  /** Differs for each request. */
  text: string;
  routeClass: RouteClass;
  recipients: readonly string[];
  campaignName: string | null;
  askedAt: number;
  /** Message ids of every 200 that the sender got for this key. All must be the same. */
  answers: (readonly string[])[];
  /** When the first 200 arrived; null if none did. */
  acceptedAt: number | null;
  /** A request was refused for good. */
  isRefused: boolean;
  /** A request that left after the first 200 was refused. */
  isTakenBack: boolean;
  attempts: Partial<Attempt>[];
}

interface PeopleDeps extends ClientsDeps {
  network: CarrierNetwork;
  password: string;
}

const CAMPAIGNS = ["spring", "summer", "autumn"];
const RESUME_AGAIN_MS = 30_000;
const SMSC_REPEATS_MS = 5000;
const SENT_WITHIN_MS = 5000;
const STOPPED_WITHIN_MS = 10_000;
/** `sendAt`: a repeated request may come after the time that it asks for. */
const EXPECTED_REFUSALS = [
  "RECIPIENT_OPTED_OUT",
  "was cancelled: use another name",
  "sendAt is a time within",
  "INSUFFICIENT_CREDITS",
];

/** Customers, operators and phone users. They send, cancel, pause and answer, at random nodes, and repeat what got no answer. */
export class People {
  readonly clients: Clients;
  readonly stops: Stops;
  readonly verifiers: Verifiers;
  readonly operators: Operators;
  readonly campaigns: AudienceCampaigns;
  readonly readers: EventReaders;
  readonly sent: Sent[] = [];
  /** Messages whose cancel was answered with success. */
  readonly cancelled = new Set<string>();
  /** Messages that were sent after the faults. */
  readonly strict: string[] = [];
  /** Last customer status of each message, as read. */
  readonly #seen = new Map<string, { status: string; answeredAt: number }>();
  #resumedAt = 0;
  readonly #network: CarrierNetwork;

  constructor(deps: PeopleDeps) {
    this.#network = deps.network;
    this.clients = new Clients(deps);
    this.stops = new Stops(deps.world);
    this.verifiers = new Verifiers(this.clients, deps.network);
    this.operators = new Operators(this.clients, deps.password);
    this.campaigns = new AudienceCampaigns(this.clients, this.stops);
    this.readers = new EventReaders(this.clients);
  }

  /** Does one thing at random. */
  act(random: Random): void {
    const kind = random.weighted({
      send: 40,
      bulk: 8,
      campaign: 8,
      schedule: 5,
      cancel: 8,
      pause: 4,
      resume: 6,
      cancelCampaign: 1,
      stop: 4,
      optIn: 2,
      read: 12,
      verify: 6,
      guess: 2,
      flood: 1,
      rcs: 8,
      topUp: this.operators.isMetered ? 4 : 0,
      mismatch: 2,
      key: 2,
      disable: 2,
      record: 2,
      audience: 4,
      controlAudience: 4,
    });
    this.clients.count(kind);
    this.clients.begin(kind, () => this.#do(kind, random));
  }

  /** Resumes again if a pause may have taken effect since: it was repeated until now, or its commit landed late. */
  resumeAgain(): void {
    if (this.clients.waiting > 0 || this.clients.world.now - this.#resumedAt < RESUME_AGAIN_MS) return;
    if (this.stops.isPauseAfter(this.#resumedAt)) this.resumeAll();
  }

  /** Resumes every campaign and enables every endpoint, so that everything can end. */
  resumeAll(): void {
    this.clients.isCalm = true;
    this.#resumedAt = this.clients.world.now;
    for (const name of CAMPAIGNS) this.clients.begin("resume", () => this.#campaign(seededRandom(1), "resume", name));
    this.clients.begin("enable", () => this.operators.enableWebhook(seededRandom(2), true));
    this.clients.begin("enable", () => this.operators.enableRoute(seededRandom(3), true));
    this.campaigns.finishAll();
  }

  async #do(kind: string, random: Random): Promise<unknown> {
    const routeClass = random.weighted({ TRANS: 5, PROMO: 5, OTP: 2 });
    if (kind === "send") return this.#send(random, { routeClass, count: 1 });
    if (kind === "bulk") return this.#send(random, { routeClass, count: random.between(2, 20) });
    if (kind === "campaign")
      return this.#send(random, {
        routeClass: "PROMO",
        count: random.between(1, 20),
        campaignName: random.pick(CAMPAIGNS),
      });
    if (kind === "schedule") return this.#send(random, { routeClass, count: 1, delaySeconds: random.between(5, 60) });
    if (kind === "cancel") return this.#cancel(random);
    if (kind === "stop") return this.#stop(random);
    if (kind === "optIn") return this.#optIn(random);
    if (kind === "read") return this.#read(random);
    if (kind === "verify") return this.verifiers.verify(random, random.pick(NUMBERS));
    if (kind === "guess") return this.verifiers.guess(random, random.pick(NUMBERS));
    if (kind === "flood") return this.verifiers.flood(random);
    if (kind === "rcs") return this.#rcs(random);
    if (kind === "topUp") return this.operators.topUp(random, random.between(-20, 200));
    if (kind === "mismatch") return this.#mismatch(random);
    if (kind === "key") return this.operators.revokeKey(random);
    if (kind === "disable") return this.operators.disableWebhook(random);
    if (kind === "record") return this.operators.changeRecord(random);
    if (kind === "audience") return this.campaigns.send(random);
    if (kind === "controlAudience") return this.campaigns.control(random);
    return this.#campaign(random, kind === "cancelCampaign" ? "cancel" : kind, random.pick(CAMPAIGNS));
  }

  async #send(
    random: Random,
    wanted: { routeClass: RouteClass; count: number; campaignName?: string; delaySeconds?: number },
  ): Promise<Sent> {
    const { world } = this.clients;
    const serial = random.seed();
    const first = random.between(0, NUMBERS.length - 1);
    const recipients = Array.from(
      { length: wanted.count },
      (_, index) => NUMBERS[(first + index) % NUMBERS.length] ?? "",
    );
    const sent: Sent = {
      key: `key-${serial}`,
      text: `Message ${serial}`,
      routeClass: wanted.routeClass,
      recipients,
      campaignName: wanted.campaignName ?? null,
      askedAt: world.now,
      answers: [],
      acceptedAt: null,
      isRefused: false,
      isTakenBack: false,
      attempts: [],
    };
    this.sent.push(sent);
    const body = {
      sender: "HELIOG",
      to: recipients.length === 1 ? recipients[0] : recipients,
      text: sent.text,
      type: wanted.routeClass,
      ...(wanted.campaignName === undefined ? {} : { campaignName: wanted.campaignName }),
      ...(wanted.delaySeconds === undefined
        ? {}
        : { sendAt: new Date(world.now + wanted.delaySeconds * 1000).toISOString() }),
    };
    // Sometimes two clients send it at the same time.
    const clients = random.chance(0.1) ? 2 : 1;
    await Promise.all(Array.from({ length: clients }, () => this.#sendOnce(seededRandom(random.seed()), sent, body)));
    return sent;
  }

  async #sendOnce(random: Random, sent: Sent, body: unknown): Promise<void> {
    const { world } = this.clients;
    const onAttempt = (attempt: Partial<Attempt>): void => void sent.attempts.push(attempt);
    const got = await this.clients.request(random, "POST", "/v1/sms", { body, idempotencyKey: sent.key, onAttempt });
    if (!got) return;
    const { answer, node } = got;
    if (answer.status !== 200) {
      sent.isRefused ||= isRefusal(answer);
      sent.isTakenBack ||= sent.acceptedAt !== null && got.askedAt > sent.acceptedAt;
      if (!isRefusal(answer)) this.clients.complain(`send answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      if (isRefusal(answer) && !EXPECTED_REFUSALS.some((text) => JSON.stringify(answer.body).includes(text)))
        this.clients.complain(`send refused with ${answer.status}: ${JSON.stringify(answer.body)}`);
      return;
    }
    const ids = (answer.body as { data: { messageId: string }[] }).data.map(({ messageId }) => messageId);
    sent.answers.push(ids);
    sent.acceptedAt ??= world.now;
    world.tell(`${node.process.name} accepts ${ids[0]} (${sent.routeClass}, ${ids.length} messages)`);
    if (random.chance(0.3)) await this.#regret(random, sent, ids);
    else if (random.chance(0.2) && ids[0]) await this.#readBack(node, ids[0]);
  }

  /** Stops a message while it is on its way to a carrier. */
  async #regret(random: Random, { routeClass, campaignName, recipients }: Sent, ids: readonly string[]): Promise<void> {
    await this.clients.pause(random.between(0, 60));
    if (campaignName !== null && random.chance(0.5)) return this.#campaign(random, "pause", campaignName);
    if (routeClass === "PROMO" && random.chance(0.7)) return void (await this.#stop(random, random.pick(recipients)));
    await this.#cancelOne(random, random.pick(ids));
  }

  /** Read-your-writes: the node that answered 200 knows the message. */
  async #readBack(node: SimulatedNode, messageId: string): Promise<void> {
    const { world, apiKey } = this.clients;
    const askedAt = world.now;
    const answer = await node.request("GET", `/v1/messages/${messageId}`, { key: apiKey });
    if (answer?.status === 404)
      this.clients.complain(`${node.process.name} does not know ${messageId}, which it accepted`);
    if (answer?.status === 200) this.#see(messageId, (answer.body as { status: string }).status, askedAt);
  }

  async #read(random: Random): Promise<void> {
    const messageId = this.#someMessage(random);
    if (messageId === null) return;
    const got = await this.clients.request(random, "GET", `/v1/messages/${messageId}`);
    if (!got) return;
    if (got.answer.status === 404) this.clients.complain(`${messageId} was accepted and is not found`);
    if (got.answer.status === 200) this.#see(messageId, (got.answer.body as { status: string }).status, got.askedAt);
  }

  /** A final status stays, except that a delivery may follow an expiry. Reads overlap, so only later requests count. */
  #see(messageId: string, status: string, askedAt: number): void {
    const before = this.#seen.get(messageId);
    if (before && before.answeredAt < askedAt && before.status !== status && before.status !== "Pending") {
      if (before.status === "Delivered" || status === "Pending")
        this.clients.complain(`the status of ${messageId} went from ${before.status} to ${status}`);
    }
    this.#seen.set(messageId, { status, answeredAt: this.clients.world.now });
  }

  #someMessage(random: Random): string | null {
    const accepted = this.sent.filter(({ answers }) => answers.length > 0);
    if (accepted.length === 0) return null;
    return random.pick(random.pick(accepted).answers[0] ?? []);
  }

  async #cancel(random: Random): Promise<void> {
    const messageId = this.#someMessage(random);
    if (messageId !== null) await this.#cancelOne(random, messageId);
  }

  async #cancelOne(random: Random, messageId: string): Promise<boolean> {
    const askedAt = this.clients.world.now;
    const got = await this.clients.request(random, "POST", `/v1/messages/${messageId}/cancel`);
    if (got?.answer.status !== 200) return false;
    const { cancelled } = got.answer.body as { cancelled: number };
    if (cancelled === 0) return false;
    this.cancelled.add(messageId);
    this.stops.add(`cancel of ${messageId}`, askedAt, (submit) => submit.messageId === messageId);
    return true;
  }

  async #campaign(random: Random, action: string, name: string): Promise<void> {
    const { world } = this.clients;
    const list = await this.clients.request(random, "GET", "/api/campaigns");
    if (list?.answer.status !== 200) return;
    const { data } = list.answer.body as { data: { id: string; name: string }[] };
    const campaign = data.find((each) => each.name === name);
    if (!campaign) return;
    const askedAt = world.now;
    const onAttempt = (attempt: Partial<Attempt>): void => {
      if (action === "resume") this.stops.addLift(`pause of ${name}`, attempt);
      if (action === "pause") this.stops.addPause(attempt);
    };
    const got = await this.clients.request(random, "POST", `/api/campaigns/${campaign.id}/${action}`, { onAttempt });
    if (got?.answer.status !== 200 || action === "resume") return;
    const at = world.now;
    // A message accepted while the answer travelled may belong to the campaign as it was before or after.
    const isMeanwhile = (messageId: string): boolean => {
      const sent = this.sent.find(({ answers }) => answers[0]?.includes(messageId));
      return !sent || ((sent.acceptedAt ?? at) >= askedAt && sent.askedAt <= at);
    };
    this.stops.add(
      `${action} of ${name}`,
      askedAt,
      (submit) => submit.campaignName === name && !isMeanwhile(submit.messageId),
    );
  }

  /** A phone user writes STOP; the SMSC repeats it until the service has acknowledged it. */
  async #stop(random: Random, number = random.pick(NUMBERS)): Promise<boolean> {
    const { world } = this.clients;
    const network = this.#network;
    const askedAt = world.now;
    let isAcknowledged = false;
    for (let tried = 0; !isAcknowledged && (tried < 10 || this.clients.isCalm); tried += 1) {
      const lines = network.carrierNames().flatMap((name) => network.openLines(name));
      if (lines.length > 0) {
        const line = random.pick(lines);
        world.plan(random.between(0, 20), line.process, () => {
          const inbound = {
            accountId: line.deps.accountId,
            channel: "sms",
            from: number,
            to: "HELIOG",
            content: { kind: "text", text: "STOP" },
            answers: null,
            at: askedAt,
          } as const;
          line.deps.onInbound(inbound).then(
            () => {
              if (!isAcknowledged) {
                this.clients.count("STOP acknowledged");
                this.stops.add(
                  `STOP of ${number}`,
                  askedAt,
                  (submit) => submit.recipient === number && submit.routeClass === "PROMO",
                );
              }
              isAcknowledged = true;
            },
            () => undefined,
          );
        });
      }
      await this.clients.pause(SMSC_REPEATS_MS + random.between(0, 1000));
    }
    return isAcknowledged;
  }

  async #optIn(random: Random): Promise<void> {
    const { world } = this.clients;
    const number = random.pick(NUMBERS);
    const what = `STOP of ${number}`;
    const lift: Partial<Attempt>[] = [];
    const stop = this.stops.all.find((each) => each.what === what && this.stops.isInForce(each, world.now + 1));
    const onAttempt = (attempt: Partial<Attempt>): void => {
      lift.push(attempt);
      this.stops.addLift(what, attempt);
    };
    const got = await this.clients.request(random, "DELETE", `/api/optouts/${number}`, { onAttempt });
    if (got?.answer.status === 404 && stop && lift.length === 1) {
      if (!this.stops.isLiftedBesides(what, lift[0]))
        this.clients.complain(`${what} was acknowledged, and nothing is on the list`);
    }
  }

  async #rcs(random: Random): Promise<void> {
    const body = {
      number: `+${random.pick(NUMBERS)}`,
      botId: "heliograph",
      type: "TRANS",
      templateName: "store-opening",
    };
    const idempotencyKey = `rcs-${random.seed()}`;
    const got = await this.clients.request(random, "POST", "/v1/rcs", { body, idempotencyKey });
    if (!got) return;
    const text = JSON.stringify(got.answer.body);
    if (got.answer.status !== 200 && !EXPECTED_REFUSALS.some((each) => text.includes(each)))
      this.clients.complain(`RCS answered ${got.answer.status}: ${text}`);
  }

  /** The same key with another body is refused, and nothing of it is stored. */
  async #mismatch(random: Random): Promise<void> {
    const accepted = this.sent.filter(({ answers }) => answers.length > 0);
    if (accepted.length === 0) return;
    const { key } = random.pick(accepted);
    const body = { sender: "HELIOG", to: random.pick(NUMBERS), text: "Another text", type: "TRANS" };
    const got = await this.clients.request(random, "POST", "/v1/sms", { body, idempotencyKey: key });
    if (got && !isRefusal(got.answer))
      this.clients.complain(`${key} was used with another text and answered ${got.answer.status}`);
  }

  /** Sends when nothing fails any more: everything works at once. */
  async actStrictly(random: Random): Promise<void> {
    const network = this.#network;
    const copiesOf = (messageId: string): string[] =>
      network.copies.filter((copy) => copy.messageId === messageId).map(({ carrier }) => carrier);
    const complain = (what: string): void => this.clients.complain(`after the faults: ${what}`);
    for (const node of this.clients.nodes())
      for (const routeClass of ["TRANS", "OTP", "PROMO"] as const) {
        const serial = random.seed();
        const to = `1202555${random.between(1000, 1999)}`;
        const body = { sender: "HELIOG", to, text: `Message ${serial}`, type: routeClass };
        const answer = await node.request("POST", "/v1/sms", { key: this.clients.apiKey, body, random });
        if (answer?.status === 402) continue;
        if (answer?.status !== 200) {
          complain(`${node.process.name} answers a send with ${answer?.status}: ${JSON.stringify(answer?.body)}`);
          continue;
        }
        const messageId = (answer.body as { data: { messageId: string }[] }).data[0]?.messageId ?? "";
        await this.clients.pause(SENT_WITHIN_MS);
        // A failure may be followed by the next route.
        const copies = copiesOf(messageId);
        if (copies.length === 0 || new Set(copies).size !== copies.length)
          complain(`${messageId} (${routeClass}) has copies at ${copies.join(", ") || "no carrier"}`);
        this.strict.push(messageId);
      }
    const scheduled = await this.#send(random, { routeClass: "TRANS", count: 1, delaySeconds: 30 });
    const [messageId] = scheduled.answers[0] ?? [];
    if (messageId !== undefined && !(await this.#cancelOne(random, messageId)))
      complain(`the scheduled message ${messageId} was not cancelled`);
    const stopAsked = this.clients.world.now;
    await this.#stop(random, `1202555${random.between(1000, 1999)}`);
    if (this.clients.world.now - stopAsked > STOPPED_WITHIN_MS) complain("a STOP was not acknowledged at once");
    await this.verifiers.actStrictly(random);
  }
}
