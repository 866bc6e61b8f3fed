import { setTimeout as sleep } from "node:timers/promises";
import { bind } from "../../src/smpp/client.ts";
import { submitSm, type DeliverSm, type SubmitSm } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import type { Session } from "../../src/smpp/session.ts";
import { STATUS } from "../../src/smpp/status.ts";
import type { Random } from "./random.ts";

/** One submit response as the client has it. */
interface Acknowledged {
  /** The number that the text goes to. */
  to: string;
  /** The text, by its own number. */
  text: number;
}

/** The ledger of a client: it stands in for the disk of a customer, so it survives every cut and kill of the server. */
export interface SmppLedger {
  /** By message id. */
  acknowledged: Map<string, Acknowledged>;
  /** States by message id, as often as they came. */
  receipts: Map<string, string[]>;
  /** Texts of which every part is acknowledged. */
  whole: Set<string>;
  throttled: number;
  repeated: number;
  refusedBinds: number;
  violations: string[];
}

export const newLedger = (): SmppLedger => ({
  acknowledged: new Map(),
  receipts: new Map(),
  whole: new Set(),
  throttled: 0,
  repeated: 0,
  refusedBinds: 0,
  violations: [],
});

interface ClientOptions {
  ports: readonly number[];
  systemId: string;
  password: string;
  /** Binds per port. */
  binds: number;
  window: number;
  ledger: SmppLedger;
  random: Random;
}

const PARTS = 3;
const SHARE_OF_LONG_TEXTS = 0.2;
const RETRY_MS = 20;
const REBIND_MS = 50;
/** Numbers whose last four digits script no other outcome than a delivery. */
const ENDINGS = 8000;

/** A client with several binds: it submits without a pause, repeats what was not answered, and binds again after each cut. */
export class SmppStormClient {
  readonly #options: ClientOptions;
  readonly #sessions = new Set<Session>();
  readonly #work: Promise<void>[] = [];
  #isSubmitting = true;
  #isClosed = false;
  #texts = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    for (const port of options.ports)
      for (let index = 0; index < options.binds; index += 1) this.#work.push(this.#keepBound(port));
  }

  /** Cuts one bind in the middle of its window; false if none is bound. */
  cut(): boolean {
    const sessions = [...this.#sessions];
    if (sessions.length === 0) return false;
    this.#options.random.pick(sessions).destroy();
    return true;
  }

  /** Submits nothing new; texts in progress are completed. */
  stopSubmitting(): void {
    this.#isSubmitting = false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const session of this.#sessions) session.destroy();
    await Promise.all(this.#work);
  }

  async #keepBound(port: number): Promise<void> {
    const { systemId, password, window, ledger } = this.#options;
    // Texts of a session that was cut: they are submitted again by the next one.
    const unfinished: (() => Promise<boolean>)[] = [];
    while (!this.#isClosed) {
      const onRequest = (pdu: { command: string }) =>
        pdu.command === "deliver_sm" ? this.#onDeliver(pdu as DeliverSm) : null;
      const result = await bind({ host: "127.0.0.1", port, systemId, password, window, onRequest });
      if (result.kind !== "bound") {
        if (result.kind === "refused") ledger.refusedBinds += 1;
        await sleep(REBIND_MS);
        continue;
      }
      const { session } = result;
      this.#sessions.add(session);
      await Promise.all(Array.from({ length: window }, () => this.#submitOn(session, unfinished)));
      if (!this.#isClosed) await session.closed;
      this.#sessions.delete(session);
    }
  }

  /** Submits one text after the other until the session ends. */
  async #submitOn(session: Session, unfinished: (() => Promise<boolean>)[]): Promise<void> {
    while (session.isOpen && !this.#isClosed) {
      const text = unfinished.pop() ?? (this.#isSubmitting ? this.#newText() : null);
      if (!text) return;
      current.set(text, session);
      if (!(await text())) unfinished.push(text);
    }
  }

  /** A text whose every call submits the parts that are not acknowledged yet; true once all are. */
  #newText(): () => Promise<boolean> {
    const { ledger, random } = this.#options;
    this.#texts += 1;
    const number = this.#texts;
    const to = `44${String(Math.floor(number / ENDINGS)).padStart(6, "0")}${1000 + (number % ENDINGS)}`;
    const total = random.chance(SHARE_OF_LONG_TEXTS) ? PARTS : 1;
    let left = Array.from({ length: total }, (_, index) => index + 1);
    let isRepeated = false;
    const submitLeft = async (): Promise<boolean> => {
      const session = current.get(submitLeft);
      if (!session) return false;
      if (isRepeated) ledger.repeated += left.length;
      isRepeated = true;
      const results = await Promise.all(left.map((part) => this.#submit(session, partOf(to, number, part, total))));
      left = left.filter((_, index) => {
        const id = results[index];
        if (id) ledger.acknowledged.set(id, { to, text: number });
        return !id;
      });
      if (left.length === 0) ledger.whole.add(to);
      return left.length === 0;
    };
    return submitLeft;
  }

  /** The id of an accepted submit; null if there was no answer. */
  async #submit(session: Session, pdu: SubmitSm): Promise<string | null> {
    const { ledger } = this.#options;
    for (;;) {
      const outcome = await session.request(pdu);
      if (outcome.kind !== "answer") return null;
      const { status } = outcome.pdu;
      if (status === STATUS.ESME_ROK && "messageId" in outcome.pdu) return outcome.pdu.messageId;
      if (status !== STATUS.ESME_RTHROTTLED && status !== STATUS.ESME_RMSGQFUL) {
        ledger.violations.push(`a valid submit was answered with status ${status}`);
        return null;
      }
      ledger.throttled += 1;
      await sleep(RETRY_MS);
    }
  }

  #onDeliver(pdu: DeliverSm) {
    const { receipts } = this.#options.ledger;
    const text = pdu.shortMessage.toString("latin1");
    const id = /^id:(\S+)/.exec(text)?.[1] ?? "";
    const state = /stat:(\w+)/.exec(text)?.[1] ?? "";
    const earlier = receipts.get(id);
    if (earlier) earlier.push(state);
    else receipts.set(id, [state]);
    return responseTo(pdu);
  }
}

/** The session that submits a text at the moment. */
const current = new WeakMap<() => Promise<boolean>, Session>();

function partOf(to: string, number: number, part: number, total: number): SubmitSm {
  const header = total === 1 ? Buffer.alloc(0) : Buffer.from([5, 0, 3, number & 0xff, total, part]);
  return submitSm({
    source: { ton: 5, npi: 0, address: "STORM" },
    destination: { ton: 1, npi: 1, address: to },
    registeredDelivery: 1,
    esmClass: total === 1 ? 0 : 0x40,
    shortMessage: Buffer.concat([header, Buffer.from(`text ${number} part ${part} `)]),
  });
}
