import { newId } from "../../src/lib/ids.ts";
import type { RouteClass } from "../../src/model/message.ts";
import type { Answer, Attempt, SimulatedNode } from "./node.ts";
import type { CarrierNetwork, WrittenSubmit } from "./carrier-network.ts";
import { seededRandom, type Random } from "../torture/random.ts";
import type { World } from "./world.ts";

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

/** A promise that the service made by an answer: from then on the messages stay where they are. */
export interface Stop {
  /** Explains it in a story. Requests that lift it have the same text. */
  what: string;
  askedAt: number;
  /** When its answer arrived. */
  at: number;
  concerns(submit: WrittenSubmit): boolean;
}

/** A request that lifts stops. */
interface Lift {
  what: string;
  attempt: Partial<Attempt>;
}

export interface Verification {
  id: string;
  /** Checks of the right code that were answered with success. */
  successes: number;
  /** Checks of wrong codes that were answered as such. */
  wrong: number;
}

/** A reader of `/v1/events` that keeps its cursor. */
interface EventReader {
  name: string;
  cursor: string | null;
  /** It sees only events after its first answer. */
  startsNow: boolean;
  /** World time of its first answer. */
  startedAt: number | null;
  seen: Set<string>;
}

interface PeopleDeps {
  world: World;
  network: CarrierNetwork;
  /** Nodes that a load balancer would choose from. */
  nodes(): SimulatedNode[];
  apiKey: string;
  password: string;
}

const NUMBERS = Array.from({ length: 30 }, (_, index) => `12025550${100 + index}`);
const CAMPAIGNS = ["spring", "summer", "autumn"];
const RETRIES = 4;
/** Once the world has calmed down. */
const CALM_RETRIES = 40;
/** A commit whose caller gave up, or whose process died, may land this much later. */
const LANDS_WITHIN_MS = 60_000;
const RESUME_AGAIN_MS = 30_000;
const SMSC_REPEATS_MS = 5000;
const KNOWN_WITHIN_MS = 6000;
const SENT_WITHIN_MS = 5000;
const STOPPED_WITHIN_MS = 10_000;
/** The limits of the configuration `default`. */
const CHECKS_MAX = 5;
const SENDS_MAX = 5;
/** `sendAt`: a repeated request may come after the time that it asks for. */
const EXPECTED_REFUSALS = [
  "RECIPIENT_OPTED_OUT",
  "was cancelled: use another name",
  "sendAt is a time within",
  "INSUFFICIENT_CREDITS",
];

/** The same request may succeed later. */
const isTemporary = ({ status, body }: Answer): boolean =>
  status === 503 || status === 429 || (status === 409 && JSON.stringify(body).includes("IDEMPOTENCY_IN_PROGRESS"));

const isRefusal = ({ status }: Answer): boolean => status >= 400 && status < 500;

/** Customers, operators and phone users. They send, cancel, pause and answer, at random nodes, and repeat what got no answer. */
export class People {
  readonly sent: Sent[] = [];
  readonly stops: Stop[] = [];
  /** Messages whose cancel was answered with success. */
  readonly cancelled = new Set<string>();
  readonly verifications: Verification[] = [];
  /** Top-ups by id, with true for those that were answered. */
  readonly topUps = new Map<string, { amount: number; isAnswered: boolean }>();
  readonly readers: readonly EventReader[] = ["early", "late"].map((name) => ({
    name,
    cursor: null,
    startsNow: name === "late",
    startedAt: null,
    seen: new Set<string>(),
  }));
  /** Violations that only the person who asked can see. */
  readonly complaints: string[] = [];
  /** Last customer status of each message, as read. */
  readonly #seen = new Map<string, { status: string; answeredAt: number }>();
  readonly #lifts: Lift[] = [];
  /** Requests that pause campaigns. */
  readonly #pauses: Partial<Attempt>[] = [];
  #resumedAt = 0;
  readonly counts = new Map<string, number>();
  /** Requests without an answer yet. */
  waiting = 0;
  /** The world has calmed down: who repeats a request repeats it until it is answered. */
  isCalm = false;
  /** Set in runs in which messages cost credits. */
  isMetered = false;
  readonly #deps: PeopleDeps;

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
  }

  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
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
      topUp: this.isMetered ? 4 : 0,
      mismatch: 2,
      key: 2,
      disable: 2,
    });
    this.count(kind);
    this.#begin(kind, () => this.#do(kind, random));
  }

  #begin(kind: string, run: () => Promise<unknown>): void {
    this.waiting += 1;
    void run()
      .catch((error: unknown) =>
        this.complaints.push(`${kind}: ${error instanceof Error ? error.stack : String(error)}`),
      )
      .finally(() => {
        this.waiting -= 1;
      });
  }

  /** Resumes again if a pause may have taken effect since: it was repeated until now, or its commit landed late. */
  resumeAgain(): void {
    if (this.waiting > 0 || this.#deps.world.now - this.#resumedAt < RESUME_AGAIN_MS) return;
    if (this.#pauses.some((attempt) => lastEffectOf(attempt) >= this.#resumedAt)) this.resumeAll();
  }

  /** Resumes every campaign and enables every endpoint, so that everything can end. */
  resumeAll(): void {
    this.isCalm = true;
    this.#resumedAt = this.#deps.world.now;
    for (const name of CAMPAIGNS) this.#begin("resume", () => this.#campaign(seededRandom(1), "resume", name));
    this.#begin("enable", () => this.#setEnabled(seededRandom(2), true));
  }

  /** True if the stop was in force at that time. A request that lifts it may take effect before its answer, or without one. */
  isInForce(stop: Stop, at: number): boolean {
    if (at <= stop.at) return false;
    return !this.#lifts.some(({ what, attempt }) => what === stop.what && isLifted(stop, at, attempt));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#deps.world.plan(ms, null, resolve));
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
    if (kind === "verify") return this.#verify(random);
    if (kind === "guess") return this.#guess(random);
    if (kind === "flood") return this.#flood(random);
    if (kind === "rcs") return this.#rcs(random);
    if (kind === "topUp") return this.#topUp(random, random.between(-20, 200));
    if (kind === "mismatch") return this.#mismatch(random);
    if (kind === "key") return this.#revoke(random);
    if (kind === "disable") return this.#disable(random);
    return this.#campaign(random, kind === "cancelCampaign" ? "cancel" : kind, random.pick(CAMPAIGNS));
  }

  #node(random: Random): SimulatedNode | null {
    const nodes = this.#deps.nodes();
    return nodes.length === 0 ? null : random.pick(nodes);
  }

  /** Repeats a request with the same idempotency key until an answer says what became of it. */
  async #request(
    random: Random,
    method: "GET" | "POST" | "DELETE" | "PATCH",
    url: string,
    options: {
      body?: unknown;
      idempotencyKey?: string;
      key?: string;
      /** Learns of each attempt before it leaves. */
      onAttempt?(attempt: Partial<Attempt>): void;
    } = {},
  ): Promise<{ answer: Answer; node: SimulatedNode; askedAt: number } | null> {
    const { world, apiKey } = this.#deps;
    const { onAttempt, ...rest } = options;
    for (let tried = 0; tried < (this.isCalm ? CALM_RETRIES : RETRIES); tried += 1) {
      const node = this.#node(random);
      if (node) {
        const attempt: Partial<Attempt> = {};
        onAttempt?.(attempt);
        const askedAt = world.now;
        const answer = await node.request(method, url, { key: apiKey, ...rest, random, attempt });
        if (answer) this.count(`answer ${answer.status}`);
        if (answer && !isTemporary(answer)) return { answer, node, askedAt };
      }
      await this.#pause(random.between(100, 5000));
    }
    return null;
  }

  async #send(
    random: Random,
    wanted: { routeClass: RouteClass; count: number; campaignName?: string; delaySeconds?: number },
  ): Promise<Sent> {
    const { world } = this.#deps;
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
    const { world } = this.#deps;
    const onAttempt = (attempt: Partial<Attempt>): void => void sent.attempts.push(attempt);
    const got = await this.#request(random, "POST", "/v1/sms", { body, idempotencyKey: sent.key, onAttempt });
    if (!got) return;
    const { answer, node } = got;
    if (answer.status !== 200) {
      sent.isRefused ||= isRefusal(answer);
      sent.isTakenBack ||= sent.acceptedAt !== null && got.askedAt > sent.acceptedAt;
      if (!isRefusal(answer)) this.complaints.push(`send answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      if (isRefusal(answer) && !EXPECTED_REFUSALS.some((text) => JSON.stringify(answer.body).includes(text)))
        this.complaints.push(`send refused with ${answer.status}: ${JSON.stringify(answer.body)}`);
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
    await this.#pause(random.between(0, 60));
    if (campaignName !== null && random.chance(0.5)) return this.#campaign(random, "pause", campaignName);
    if (routeClass === "PROMO" && random.chance(0.7)) return void (await this.#stop(random, random.pick(recipients)));
    await this.#cancelOne(random, random.pick(ids));
  }

  /** Read-your-writes: the node that answered 200 knows the message. */
  async #readBack(node: SimulatedNode, messageId: string): Promise<void> {
    const { world, apiKey } = this.#deps;
    const askedAt = world.now;
    const answer = await node.request("GET", `/v1/messages/${messageId}`, { key: apiKey });
    if (answer?.status === 404)
      this.complaints.push(`${node.process.name} does not know ${messageId}, which it accepted`);
    if (answer?.status === 200) this.#see(messageId, (answer.body as { status: string }).status, askedAt);
  }

  async #read(random: Random): Promise<void> {
    const messageId = this.#someMessage(random);
    if (messageId === null) return;
    const got = await this.#request(random, "GET", `/v1/messages/${messageId}`);
    if (!got) return;
    if (got.answer.status === 404) this.complaints.push(`${messageId} was accepted and is not found`);
    if (got.answer.status === 200) this.#see(messageId, (got.answer.body as { status: string }).status, got.askedAt);
  }

  /** A final status stays, except that a delivery may follow an expiry. Reads overlap, so only later requests count. */
  #see(messageId: string, status: string, askedAt: number): void {
    const before = this.#seen.get(messageId);
    if (before && before.answeredAt < askedAt && before.status !== status && before.status !== "Pending") {
      if (before.status === "Delivered" || status === "Pending")
        this.complaints.push(`the status of ${messageId} went from ${before.status} to ${status}`);
    }
    this.#seen.set(messageId, { status, answeredAt: this.#deps.world.now });
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
    const askedAt = this.#deps.world.now;
    const got = await this.#request(random, "POST", `/v1/messages/${messageId}/cancel`);
    if (got?.answer.status !== 200) return false;
    const { cancelled } = got.answer.body as { cancelled: number };
    if (cancelled === 0) return false;
    this.cancelled.add(messageId);
    this.#promise(`cancel of ${messageId}`, askedAt, (submit) => submit.messageId === messageId);
    return true;
  }

  #promise(what: string, askedAt: number, concerns: Stop["concerns"]): void {
    const { world } = this.#deps;
    world.tell(`${what} is answered`);
    this.stops.push({ what, askedAt, at: world.now, concerns });
  }

  async #campaign(random: Random, action: string, name: string): Promise<void> {
    const { world } = this.#deps;
    const list = await this.#request(random, "GET", "/api/campaigns");
    if (list?.answer.status !== 200) return;
    const { data } = list.answer.body as { data: { id: string; name: string }[] };
    const campaign = data.find((each) => each.name === name);
    if (!campaign) return;
    const askedAt = world.now;
    const onAttempt = (attempt: Partial<Attempt>): void => {
      if (action === "resume") this.#lifts.push({ what: `pause of ${name}`, attempt });
      if (action === "pause") this.#pauses.push(attempt);
    };
    const got = await this.#request(random, "POST", `/api/campaigns/${campaign.id}/${action}`, { onAttempt });
    if (got?.answer.status !== 200 || action === "resume") return;
    const at = world.now;
    // A message accepted while the answer travelled may belong to the campaign as it was before or after.
    const isMeanwhile = (messageId: string): boolean => {
      const sent = this.sent.find(({ answers }) => answers[0]?.includes(messageId));
      return !sent || ((sent.acceptedAt ?? at) >= askedAt && sent.askedAt <= at);
    };
    this.#promise(
      `${action} of ${name}`,
      askedAt,
      (submit) => submit.campaignName === name && !isMeanwhile(submit.messageId),
    );
  }

  /** A phone user writes STOP; the SMSC repeats it until the service has acknowledged it. */
  async #stop(random: Random, number = random.pick(NUMBERS)): Promise<boolean> {
    const { world, network } = this.#deps;
    const askedAt = world.now;
    let isAcknowledged = false;
    for (let tried = 0; !isAcknowledged && (tried < 10 || this.isCalm); tried += 1) {
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
                this.count("STOP acknowledged");
                this.#promise(
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
      await this.#pause(SMSC_REPEATS_MS + random.between(0, 1000));
    }
    return isAcknowledged;
  }

  async #optIn(random: Random): Promise<void> {
    const { world } = this.#deps;
    const number = random.pick(NUMBERS);
    const what = `STOP of ${number}`;
    const lift: Partial<Attempt>[] = [];
    const stop = this.stops.find((each) => each.what === what && this.isInForce(each, world.now + 1));
    const onAttempt = (attempt: Partial<Attempt>): void => {
      lift.push(attempt);
      this.#lifts.push({ what, attempt });
    };
    const got = await this.#request(random, "DELETE", `/api/optouts/${number}`, { onAttempt });
    if (got?.answer.status === 404 && stop && lift.length === 1) {
      const isLiftedElsewhere = this.#lifts.some((each) => each.what === what && each.attempt !== lift[0]);
      if (!isLiftedElsewhere) this.complaints.push(`${what} was acknowledged, and nothing is on the list`);
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
    const got = await this.#request(random, "POST", "/v1/rcs", { body, idempotencyKey });
    if (!got) return;
    const text = JSON.stringify(got.answer.body);
    if (got.answer.status !== 200 && !EXPECTED_REFUSALS.some((each) => text.includes(each)))
      this.complaints.push(`RCS answered ${got.answer.status}: ${text}`);
  }

  /** The same key with another body is refused, and nothing of it is stored. */
  async #mismatch(random: Random): Promise<void> {
    const accepted = this.sent.filter(({ answers }) => answers.length > 0);
    if (accepted.length === 0) return;
    const { key } = random.pick(accepted);
    const body = { sender: "HELIOG", to: random.pick(NUMBERS), text: "Another text", type: "TRANS" };
    const got = await this.#request(random, "POST", "/v1/sms", { body, idempotencyKey: key });
    if (got && !isRefusal(got.answer))
      this.complaints.push(`${key} was used with another text and answered ${got.answer.status}`);
  }

  /** Starts a verification, reads the code from the phone, and checks it from two places at once. */
  async #verify(random: Random): Promise<void> {
    const { apiKey } = this.#deps;
    const started = await this.#startVerification(random);
    if (!started) return;
    const { id, code, verification } = started;
    const wrong = code === "000000" ? "000001" : "000000";
    await Promise.all(
      [code, code, wrong].map(async (otp) => {
        await this.#pause(random.between(0, 50));
        const body = { verifyId: id, otp };
        const answer = await this.#node(random)?.request("POST", "/v1/verify/validate", { key: apiKey, body });
        if (answer?.status !== 200) return;
        verification.successes += 1;
        if (otp === wrong) this.complaints.push(`a wrong code verified ${id}`);
      }),
    );
    this.count("code checked");
    if (verification.successes === 0) return;
    const got = await this.#request(random, "GET", `/v1/verify/${id}`);
    const text = JSON.stringify(got?.answer.body ?? "verified");
    if (!text.includes("verified")) this.complaints.push(`${id} was verified, and is read as ${text}`);
  }

  /** Sends a code and reads it from the phone; null if none came. */
  async #startVerification(random: Random): Promise<{ id: string; code: string; verification: Verification } | null> {
    const { network } = this.#deps;
    const body = { to: random.pick(NUMBERS), configId: "default" };
    const got = await this.#request(random, "POST", "/v1/verify", { body, idempotencyKey: `verify-${random.seed()}` });
    if (got?.answer.status !== 200) return null;
    const id = (got.answer.body as { data: string }).data;
    const verification: Verification = { id, successes: 0, wrong: 0 };
    this.verifications.push(verification);
    for (let waited = 0; waited < 20; waited += 1) {
      await this.#pause(1000);
      const copy = network.copies.find(({ messageId }) => messageId === `${id}:1`);
      const code = copy && /\d{4,}/.exec(copy.text)?.[0];
      if (code !== undefined) return { id, code, verification };
    }
    return null;
  }

  /** Tries wrong codes from many places at once: no more are judged than the configuration allows. */
  async #guess(random: Random): Promise<void> {
    const { apiKey } = this.#deps;
    const started = await this.#startVerification(random);
    if (!started) return;
    const { id, code, verification } = started;
    await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const otp = String((Number(code) + index + 1) % 1_000_000).padStart(6, "0");
        await this.#pause(random.between(0, 50));
        const body = { verifyId: id, otp };
        const answer = await this.#node(random)?.request("POST", "/v1/verify/validate", { key: apiKey, body });
        if (answer?.status === 200) this.complaints.push(`a wrong code verified ${id}`);
        if (JSON.stringify(answer?.body ?? "").includes("OTP_INCORRECT")) verification.wrong += 1;
      }),
    );
    this.count("codes guessed");
    if (verification.wrong > CHECKS_MAX) this.complaints.push(`${id}: ${verification.wrong} wrong codes were judged`);
    if (verification.wrong < CHECKS_MAX) return;
    const body = { verifyId: id, otp: code };
    const late = await this.#node(random)?.request("POST", "/v1/verify/validate", { key: apiKey, body });
    if (late?.status === 200) this.complaints.push(`${id} was verified after ${verification.wrong} wrong codes`);
  }

  /** Asks for many codes to one number at once: no more are sent than the configuration allows. */
  async #flood(random: Random): Promise<void> {
    const { apiKey } = this.#deps;
    const number = `1202555${random.between(2000, 9999)}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        await this.#pause(random.between(0, 50));
        const body = { to: number, configId: "default" };
        return this.#node(random)?.request("POST", "/v1/verify", { key: apiKey, body });
      }),
    );
    const taken = answers.filter((answer) => answer?.status === 200).length;
    if (taken > SENDS_MAX) this.complaints.push(`${taken} codes were sent to ${number} at once`);
  }

  /** A key works on its node at once, and after its revocation no longer. */
  async #revoke(random: Random): Promise<void> {
    const { world } = this.#deps;
    const body = { name: `key ${random.seed()}`, scopes: ["sms", "read"] };
    const made = await this.#request(random, "POST", "/api/keys", { body });
    if (!made || made.answer.status >= 300) return;
    const { id, secret, key: written } = made.answer.body as { id: string; secret?: string; key?: string };
    const key = secret ?? written;
    if (key === undefined) throw new Error(`a new key has no secret: ${JSON.stringify(made.answer.body)}`);
    const first = await made.node.request("GET", "/v1/messages?limit=1", { key });
    if (first?.status === 401) this.complaints.push(`${made.node.process.name} does not know the key that it made`);
    const gone = await this.#request(random, "DELETE", `/api/keys/${id}`);
    if (!gone || gone.answer.status >= 300) return;
    const revokedAt = world.now;
    const again = await gone.node.request("GET", "/v1/messages?limit=1", { key });
    if (again?.status === 200) this.complaints.push(`${gone.node.process.name} takes a key that it revoked`);
    await this.#pause(KNOWN_WITHIN_MS);
    const other = this.#node(random);
    const answer = await other?.request("GET", "/v1/messages?limit=1", { key });
    // A node that could not read the store, or stood still, may not know it yet.
    const isExcused = other?.process.wasTroubled(revokedAt - 1000, world.now, ["store", "pause"]);
    if (answer?.status === 200 && !isExcused)
      this.complaints.push(`${other?.process.name} takes a key ${KNOWN_WITHIN_MS} ms after its revocation`);
    this.count("key revoked");
  }

  /** Disables the webhook of RCS for a while: its callbacks wait, and arrive after it is enabled. */
  async #disable(random: Random): Promise<void> {
    await this.#setEnabled(random, false);
    await this.#pause(random.between(1000, 30_000));
    await this.#setEnabled(random, true);
  }

  async #setEnabled(random: Random, enabled: boolean): Promise<void> {
    const list = await this.#request(random, "GET", "/api/webhooks");
    if (list?.answer.status !== 200) return;
    const { data } = list.answer.body as { data: { id: string; channel: string }[] };
    for (const { id, channel } of data)
      if (channel === "rcs") await this.#request(random, "PATCH", `/api/webhooks/${id}`, { body: { enabled } });
  }

  #session: Record<string, string> | null = null;

  /** Adds or removes credits, as a logged-in owner. Repeated under the same id until it is answered. */
  async #topUp(random: Random, amount: number): Promise<void> {
    if (amount === 0) return;
    const { world, password } = this.#deps;
    const id = newId(world.now);
    const topUp = { amount, isAnswered: false };
    this.topUps.set(id, topUp);
    for (let tried = 0; tried < RETRIES || this.isCalm; tried += 1) {
      const node = this.#node(random);
      if (node && !this.#session) {
        const body = { email: "admin@localhost", password };
        const answer = await node.request("POST", "/api/session", { body, random });
        if (answer?.status === 200) {
          const cookies = answer.headers["set-cookie"];
          const { csrfToken } = answer.body as { csrfToken: string };
          const cookie = (Array.isArray(cookies) ? cookies : [String(cookies)])
            .map((each) => each.split(";")[0])
            .join("; ");
          this.#session = { cookie, "x-csrf-token": csrfToken };
        } else if (answer && answer.status !== 503 && answer.status !== 429)
          throw new Error(`login answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
      if (node && this.#session) {
        const answer = await node.request("POST", "/api/credits", {
          headers: this.#session,
          body: { amount, id },
          random,
        });
        if (answer?.status === 200) {
          topUp.isAnswered = true;
          return;
        }
        if (answer?.status === 401) this.#session = null;
        else if (answer && isRefusal(answer) && answer.status !== 429) {
          if (!JSON.stringify(answer.body).includes("INSUFFICIENT_CREDITS"))
            this.complaints.push(`a top-up was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
          return;
        }
      }
      await this.#pause(random.between(100, 5000));
    }
  }

  /** The first credits. */
  async fill(random: Random, amount: number): Promise<void> {
    this.isCalm = true;
    await this.#topUp(random, amount);
    this.isCalm = false;
  }

  /** Reads events with a cursor, at any node, and so on until the end of the run. */
  readEvents(untilMs: number): void {
    for (const reader of this.readers) {
      const random = this.#deps.world.randomFor(`reader ${reader.name}`);
      void this.#readOn(random, reader, untilMs);
    }
  }

  async #readOn(random: Random, reader: EventReader, until: number): Promise<void> {
    while (this.#deps.world.now < until) {
      await this.readPage(random, reader);
      await this.#pause(random.between(500, 10_000));
    }
  }

  /** Reads one page; the number of its events, or null without an answer. */
  async readPage(random: Random, reader: EventReader): Promise<number | null> {
    const { world, apiKey } = this.#deps;
    const cursor = reader.cursor ?? (reader.startsNow ? "now" : null);
    const query = `limit=${random.between(1, 50)}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const node = this.#node(random);
    const answer = await node?.request("GET", `/v1/events?${query}`, { key: apiKey, random });
    if (answer?.status !== 200) return null;
    const { data, nextCursor } = answer.body as { data: { eventId: string }[]; nextCursor: string };
    for (const { eventId } of data) {
      if (reader.seen.has(eventId)) this.complaints.push(`the ${reader.name} reader got event ${eventId} twice`);
      reader.seen.add(eventId);
    }
    reader.cursor = nextCursor;
    reader.startedAt ??= world.now;
    return data.length;
  }

  /** Sends when nothing fails any more: everything works at once. */
  async actStrictly(random: Random): Promise<void> {
    const { network, nodes } = this.#deps;
    const copiesOf = (messageId: string): number =>
      network.copies.filter((copy) => copy.messageId === messageId).length;
    const complain = (what: string): void => void this.complaints.push(`after the faults: ${what}`);
    for (const node of nodes())
      for (const routeClass of ["TRANS", "OTP", "PROMO"] as const) {
        const serial = random.seed();
        const to = `1202555${random.between(1000, 1999)}`;
        const body = { sender: "HELIOG", to, text: `Message ${serial}`, type: routeClass };
        const answer = await node.request("POST", "/v1/sms", { key: this.#deps.apiKey, body, random });
        if (answer?.status === 402) continue;
        if (answer?.status !== 200) {
          complain(`${node.process.name} answers a send with ${answer?.status}: ${JSON.stringify(answer?.body)}`);
          continue;
        }
        const messageId = (answer.body as { data: { messageId: string }[] }).data[0]?.messageId ?? "";
        await this.#pause(SENT_WITHIN_MS);
        if (copiesOf(messageId) !== 1) complain(`${messageId} (${routeClass}) has ${copiesOf(messageId)} copies`);
        this.strict.push(messageId);
      }
    const scheduled = await this.#send(random, { routeClass: "TRANS", count: 1, delaySeconds: 30 });
    const [messageId] = scheduled.answers[0] ?? [];
    if (messageId !== undefined && !(await this.#cancelOne(random, messageId)))
      complain(`the scheduled message ${messageId} was not cancelled`);
    const stopAsked = this.#deps.world.now;
    await this.#stop(random, `1202555${random.between(1000, 1999)}`);
    if (this.#deps.world.now - stopAsked > STOPPED_WITHIN_MS) complain("a STOP was not acknowledged at once");
  }

  /** Messages that were sent after the faults. */
  readonly strict: string[] = [];
}

/** True if the request may have lifted the stop before that time. Only a refusal is certain. */
function isLifted(stop: Stop, at: number, attempt: Partial<Attempt>): boolean {
  const { askedAt = 0, endedAt = null, status = null } = attempt;
  if (at < askedAt) return false;
  if (status !== null && status >= 400 && status < 500 && status !== 409 && status !== 429)
    return at <= (endedAt ?? Number.POSITIVE_INFINITY);
  return stop.askedAt <= lastEffectOf(attempt);
}

/** The last moment at which a request may take effect. */
function lastEffectOf({ endedAt = null, status = null, process }: Partial<Attempt>): number {
  const isCertain = status !== null && status < 300;
  return (endedAt ?? process?.diedAt ?? 0) + (isCertain ? 0 : LANDS_WITHIN_MS);
}
