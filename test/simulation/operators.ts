import { newId } from "../../src/lib/ids.ts";
import type { Random } from "../torture/random.ts";
import { isRefusal, type Clients } from "./clients.ts";

const KNOWN_WITHIN_MS = 6000;
const RETRIES = 4;
const CARRIERS = ["north", "south"];
/** The carrier whose route may be disabled. The other one takes the messages meanwhile. */
const FIRST_ROUTE = "north";

/** Operators and owners: keys, endpoints, records and credits. They work at any node. */
export class Operators {
  /** Top-ups by id, with true for those that were answered. */
  readonly topUps = new Map<string, { amount: number; isAnswered: boolean }>();
  /** Set in runs in which messages cost credits. */
  isMetered = false;
  /** A carrier has a limited rate, or had one for a while. */
  hasLimitedRates = false;
  /** Periods in which a route may have been disabled. */
  readonly routeOff: { from: number; until: number }[] = [];
  readonly #clients: Clients;
  readonly #password: string;
  #session: Record<string, string> | null = null;

  constructor(clients: Clients, password: string) {
    this.#clients = clients;
    this.#password = password;
  }

  /** A key works on its node at once, and after its revocation no longer. */
  async revokeKey(random: Random): Promise<void> {
    const clients = this.#clients;
    const { world } = clients;
    const body = { name: `key ${random.seed()}`, scopes: ["sms", "read"] };
    const made = await clients.request(random, "POST", "/api/keys", { body });
    if (!made || made.answer.status >= 300) return;
    const { id, secret, key: written } = made.answer.body as { id: string; secret?: string; key?: string };
    const key = secret ?? written;
    if (key === undefined) throw new Error(`a new key has no secret: ${JSON.stringify(made.answer.body)}`);
    const first = await made.node.request("GET", "/v1/messages?limit=1", { key });
    if (first?.status === 401) clients.complain(`${made.node.process.name} does not know the key that it made`);
    const gone = await clients.request(random, "DELETE", `/api/keys/${id}`);
    if (!gone || gone.answer.status >= 300) return;
    const revokedAt = world.now;
    const again = await gone.node.request("GET", "/v1/messages?limit=1", { key });
    if (again?.status === 200) clients.complain(`${gone.node.process.name} takes a key that it revoked`);
    await clients.pause(KNOWN_WITHIN_MS);
    const other = clients.node(random);
    const answer = await other?.request("GET", "/v1/messages?limit=1", { key });
    // A node that could not read the store, or stood still, may not know it yet.
    const isExcused = other?.process.wasTroubled(revokedAt - 1000, world.now, ["store", "pause"]);
    if (answer?.status === 200 && !isExcused)
      clients.complain(`${other?.process.name} takes a key ${KNOWN_WITHIN_MS} ms after its revocation`);
    clients.count("key revoked");
  }

  /** Disables the webhook of RCS for a while: its callbacks wait, and arrive after it is enabled. */
  async disableWebhook(random: Random): Promise<void> {
    await this.enableWebhook(random, false);
    await this.#clients.pause(random.between(1000, 30_000));
    await this.enableWebhook(random, true);
  }

  async enableWebhook(random: Random, enabled: boolean): Promise<void> {
    const list = await this.#clients.request(random, "GET", "/api/webhooks");
    if (list?.answer.status !== 200) return;
    const { data } = list.answer.body as { data: { id: string; channel: string }[] };
    for (const { id, channel } of data)
      if (channel === "rcs") await this.#clients.request(random, "PATCH", `/api/webhooks/${id}`, { body: { enabled } });
  }

  /** Disables a route for a while, or changes the rate of a carrier. */
  async changeRecord(random: Random): Promise<void> {
    if (random.chance(0.5)) {
      await this.enableRoute(random, false);
      await this.#clients.pause(random.between(500, 20_000));
      return this.enableRoute(random, true);
    }
    const id = await this.#idOf(random, "/api/carriers", random.pick(CARRIERS));
    const body = { messagesPerSecond: random.pick([5, 20, 100, null]) };
    this.hasLimitedRates ||= body.messagesPerSecond !== null;
    if (id !== null) await this.#clients.request(random, "PATCH", `/api/carriers/${id}`, { body });
  }

  async enableRoute(random: Random, enabled: boolean): Promise<void> {
    const id = await this.#idOf(random, "/api/routes", FIRST_ROUTE);
    if (id === null) return;
    const { world } = this.#clients;
    if (!enabled) this.routeOff.push({ from: world.now, until: Number.POSITIVE_INFINITY });
    const got = await this.#clients.request(random, "PATCH", `/api/routes/${id}`, { body: { enabled } });
    if (got?.answer.status !== 200) return;
    world.tell(`the route ${FIRST_ROUTE} is ${enabled ? "on" : "off"}`);
    if (!enabled) return;
    for (const period of this.routeOff) period.until = Math.min(period.until, world.now + KNOWN_WITHIN_MS);
  }

  async #idOf(random: Random, url: string, wanted: string): Promise<string | null> {
    const list = await this.#clients.request(random, "GET", `${url}?limit=100`);
    if (list?.answer.status !== 200) return null;
    const { data } = list.answer.body as { data: { id: string; name: string }[] };
    return data.find(({ name }) => name === wanted)?.id ?? null;
  }

  /** Adds or removes credits, as a logged-in owner. Repeated under the same id until it is answered. */
  async topUp(random: Random, amount: number): Promise<void> {
    if (amount === 0) return;
    const clients = this.#clients;
    const id = newId(clients.world.now);
    const topUp = { amount, isAnswered: false };
    this.topUps.set(id, topUp);
    for (let tried = 0; tried < RETRIES || clients.isCalm; tried += 1) {
      const node = clients.node(random);
      const session = node && (await this.#logIn(random));
      if (node && session) {
        const answer = await node.request("POST", "/api/credits", { headers: session, body: { amount, id }, random });
        if (answer?.status === 200) {
          topUp.isAnswered = true;
          return;
        }
        if (answer?.status === 401) this.#session = null;
        else if (answer && isRefusal(answer) && answer.status !== 429) {
          if (!JSON.stringify(answer.body).includes("INSUFFICIENT_CREDITS"))
            clients.complain(`a top-up was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
          return;
        }
      }
      await clients.pause(random.between(100, 5000));
    }
  }

  async #logIn(random: Random): Promise<Record<string, string> | null> {
    if (this.#session) return this.#session;
    const body = { email: "admin@localhost", password: this.#password };
    const answer = await this.#clients.node(random)?.request("POST", "/api/session", { body, random });
    if (answer?.status === 200) {
      const cookies = answer.headers["set-cookie"];
      const { csrfToken } = answer.body as { csrfToken: string };
      const cookie = (Array.isArray(cookies) ? cookies : [String(cookies)])
        .map((each) => each.split(";")[0])
        .join("; ");
      this.#session = { cookie, "x-csrf-token": csrfToken };
    } else if (answer && answer.status !== 503 && answer.status !== 429)
      throw new Error(`login answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return this.#session;
  }

  /** Adds credits, and tries until it is done. */
  async fill(random: Random, amount: number): Promise<void> {
    const { isCalm } = this.#clients;
    this.#clients.isCalm = true;
    await this.topUp(random, amount);
    this.#clients.isCalm = isCalm;
  }
}
