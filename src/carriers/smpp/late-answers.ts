import type { Response } from "../../smpp/pdu.ts";
import type { Session } from "../../smpp/session.ts";

/** Memory limit per bind; beyond it the oldest are dropped. */
const OVERDUE_MAX = 10_000;

type Handler = (pdu: Response) => void;

/**
 * Handlers of submit responses that come after their time-out. Without the id in such a response the message's receipts
 * would not match. They end with their session.
 */
export class LateAnswers {
  readonly #overdue = new WeakMap<Session, Map<number, Handler>>();

  expect(session: Session, sequence: number, handler: Handler): void {
    const overdue = this.#overdue.get(session) ?? new Map<number, Handler>();
    this.#overdue.set(session, overdue);
    overdue.set(sequence, handler);
    for (const oldest of overdue.keys()) {
      if (overdue.size <= OVERDUE_MAX) break;
      overdue.delete(oldest);
    }
  }

  /** False if no handler waits for the response. */
  receive(session: Session, sequence: number, pdu: Response): boolean {
    const overdue = this.#overdue.get(session);
    const handler = overdue?.get(sequence);
    if (!handler || (pdu.command !== "submit_sm_resp" && pdu.command !== "generic_nack")) return false;
    overdue?.delete(sequence);
    handler(pdu);
    return true;
  }
}
