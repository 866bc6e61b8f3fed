import type { Response } from "../../smpp/pdu.ts";
import type { Session } from "../../smpp/session.ts";

/** More answers than this that one bind still owes are a carrier that answers nothing; the oldest are given up. */
const OVERDUE_MAX = 10_000;

type Take = (pdu: Response) => void;

/**
 * Who still wants the answers that did not come in their time. A slow carrier gives them all the same, and without the id in
 * one the message's receipts would match nothing. A bind that ends takes with it what it owed.
 */
export class LateAnswers {
  readonly #overdue = new WeakMap<Session, Map<number, Take>>();

  expect(session: Session, sequence: number, take: Take): void {
    const overdue = this.#overdue.get(session) ?? new Map<number, Take>();
    this.#overdue.set(session, overdue);
    overdue.set(sequence, take);
    for (const oldest of overdue.keys()) {
      if (overdue.size <= OVERDUE_MAX) break;
      overdue.delete(oldest);
    }
  }

  /** Hands over what came; false when nobody waits for it. */
  hear(session: Session, sequence: number, pdu: Response): boolean {
    const overdue = this.#overdue.get(session);
    const take = overdue?.get(sequence);
    if (!take || (pdu.command !== "submit_sm_resp" && pdu.command !== "generic_nack")) return false;
    overdue?.delete(sequence);
    take(pdu);
    return true;
  }
}
