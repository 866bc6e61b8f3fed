import type { Random } from "../torture/random.ts";
import type { CarrierNetwork } from "./carrier-network.ts";
import type { Clients } from "./clients.ts";
import type { Answer } from "./node.ts";

export interface Verification {
  id: string;
  /** Checks of the right code that were answered with success. */
  successes: number;
  /** Checks of wrong codes that were answered as such. */
  wrong: number;
}

interface Started {
  id: string;
  code: string;
  verification: Verification;
}

/** The limits of the configuration `default`. */
const CHECKS_MAX = 5;
const SENDS_MAX = 5;
/** The next code has to wait for half a minute. */
const SENDS_AT_ONCE = 1;
const AT_ONCE = 8;

/** Customers who verify phone numbers, and attackers who guess codes or have many sent. */
export class Verifiers {
  readonly all: Verification[] = [];
  readonly #clients: Clients;
  readonly #network: CarrierNetwork;

  constructor(clients: Clients, network: CarrierNetwork) {
    this.#clients = clients;
    this.#network = network;
  }

  /** Starts a verification, reads the code from the phone, and checks it from two places at once. */
  async verify(random: Random, number: string): Promise<void> {
    const started = await this.#start(random, number);
    if (!started) return;
    const { id, code, verification } = started;
    const wrong = code === "000000" ? "000001" : "000000";
    await Promise.all(
      [code, code, wrong].map(async (otp) => {
        await this.#clients.pause(random.between(0, 50));
        const status = await this.#check(random, id, otp);
        if (status !== 200) return;
        verification.successes += 1;
        if (otp === wrong) this.#clients.complain(`a wrong code verified ${id}`);
      }),
    );
    this.#clients.count("code checked");
    if (verification.successes === 0) return;
    const got = await this.#clients.request(random, "GET", `/v1/verify/${id}`);
    const text = JSON.stringify(got?.answer.body ?? "verified");
    if (!text.includes("verified")) this.#clients.complain(`${id} was verified, and is read as ${text}`);
  }

  /** Tries wrong codes from many places at once: no more are judged than the configuration allows. */
  async guess(random: Random, number: string): Promise<void> {
    const started = await this.#start(random, number);
    if (!started) return;
    await this.#guessAtOnce(random, started);
    this.#clients.count("codes guessed");
    const { id, code, verification } = started;
    if (verification.wrong < CHECKS_MAX) return;
    const status = await this.#check(random, id, code);
    if (status === 200) this.#clients.complain(`${id} was verified after ${verification.wrong} wrong codes`);
  }

  /** Asks for many codes to one number at once: no more are sent than the configuration allows. */
  async flood(random: Random): Promise<void> {
    await this.#floodAtOnce(random, `1202555${random.between(2000, 5999)}`);
  }

  /** Without faults the limits are exact: as many codes are sent and judged as allowed, and one of two right ones wins. */
  async actStrictly(random: Random): Promise<void> {
    const complain = (what: string): void => this.#clients.complain(`after the faults: ${what}`);
    const numbers = [0, 1, 2].map((place) => `1202555${6000 + place * 1000 + random.between(0, 999)}`);
    const [one = "", other = "", third = ""] = numbers;
    const right = await this.#start(random, one);
    if (!right) complain(`no code came to ${one}`);
    if (right) {
      const statuses = await Promise.all([right.code, right.code].map((code) => this.#check(random, right.id, code)));
      right.verification.successes += statuses.filter((status) => status === 200).length;
      if (right.verification.successes !== 1) complain(`a right code was answered ${statuses.join(" and ")}`);
    }
    const guessed = await this.#start(random, other);
    if (!guessed) complain(`no code came to ${other}`);
    if (guessed) {
      await this.#guessAtOnce(random, guessed);
      if (guessed.verification.wrong !== CHECKS_MAX)
        complain(`${guessed.verification.wrong} wrong codes were judged at once`);
      if ((await this.#check(random, guessed.id, guessed.code)) === 200)
        complain(`${guessed.id} was verified after ${CHECKS_MAX} wrong codes`);
    }
    const answers = await this.#floodAtOnce(random, third);
    const taken = answers.filter((answer) => answer?.status === 200).length;
    if (taken !== SENDS_AT_ONCE) complain(`${taken} codes were sent to ${third} at once`);
  }

  /** The status of the answer; null without one. */
  async #check(random: Random, verifyId: string, otp: string): Promise<number | null> {
    const { apiKey: key } = this.#clients;
    const answer = await this.#clients
      .node(random)
      ?.request("POST", "/v1/verify/validate", { key, body: { verifyId, otp } });
    return answer?.status ?? null;
  }

  async #guessAtOnce(random: Random, { id, code, verification }: Started): Promise<void> {
    const { apiKey: key } = this.#clients;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const otp = String((Number(code) + index + 1) % 10 ** code.length).padStart(code.length, "0");
        await this.#clients.pause(random.between(0, 50));
        const body = { verifyId: id, otp };
        const answer = await this.#clients.node(random)?.request("POST", "/v1/verify/validate", { key, body });
        if (answer?.status === 200) this.#clients.complain(`a wrong code verified ${id}`);
        if (JSON.stringify(answer?.body ?? "").includes("OTP_INCORRECT")) verification.wrong += 1;
      }),
    );
    if (verification.wrong > CHECKS_MAX) this.#clients.complain(`${id}: ${verification.wrong} wrong codes were judged`);
  }

  async #floodAtOnce(random: Random, number: string): Promise<(Answer | null | undefined)[]> {
    const { apiKey: key } = this.#clients;
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        await this.#clients.pause(random.between(0, 50));
        const body = { to: number, configId: "default" };
        return this.#clients.node(random)?.request("POST", "/v1/verify", { key, body });
      }),
    );
    const taken = answers.filter((answer) => answer?.status === 200).length;
    if (taken > SENDS_MAX) this.#clients.complain(`${taken} codes were sent to ${number} at once`);
    return answers;
  }

  /** Sends a code and reads it from the phone; null if none came. */
  async #start(random: Random, number: string): Promise<Started | null> {
    const body = { to: number, configId: "default" };
    const idempotencyKey = `verify-${random.seed()}`;
    const got = await this.#clients.request(random, "POST", "/v1/verify", { body, idempotencyKey });
    if (got?.answer.status !== 200) return null;
    const id = (got.answer.body as { data: string }).data;
    const verification: Verification = { id, successes: 0, wrong: 0 };
    this.all.push(verification);
    for (let waited = 0; waited < 20; waited += 1) {
      await this.#clients.pause(1000);
      const copy = this.#network.copies.find(({ messageId }) => messageId === `${id}:1`);
      const code = copy && /\d{4,}/.exec(copy.text)?.[0];
      if (code !== undefined) return { id, code, verification };
    }
    return null;
  }
}
