import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import type { Response, SubmitSm } from "../../smpp/pdu.ts";
import type { Outcome as Answered } from "../../smpp/request-window.ts";
import type { Session } from "../../smpp/session.ts";
import type { KnownOutcome, MaySend, Outcome } from "../carrier.ts";
import { classifySubmit, type StatusPolicy, type SubmitClass } from "./classify-response.ts";

/** Attempts for a part that the carrier throttles after it has accepted other parts. */
const TRIES = 5;

/** Result of one part. */
type PartResult =
  | { kind: "taken"; id: string }
  | Exclude<SubmitClass, { kind: "taken" }>
  /** Never written, so certainly not accepted. */
  | { kind: "unsent" }
  | { kind: "unknown"; description: string };

export interface SubmitPartsDeps {
  clock: Clock;
  policy: StatusPolicy;
  /** Called for every submit response. */
  onResponse(verdict: SubmitClass): void;
  /** Registers a handler for a response that timed out. */
  expectLate(session: Session, sequence: number, take: (pdu: Response) => void): void;
}

/** Submit state of a message, kept while late responses may come. */
interface SubmitState {
  session: Session;
  results: PartResult[];
  /** Combined result once all responses have come or timed out. */
  outcome: Outcome | null;
  /** Called when late responses have resolved an unknown outcome. */
  onLate(outcome: KnownOutcome): void;
  maySend: MaySend | undefined;
}

/** Submits all parts on one bind in order, and combines the results. */
export async function submitParts(
  deps: SubmitPartsDeps,
  session: Session,
  submits: readonly SubmitSm[],
  onLate: SubmitState["onLate"],
  maySend?: MaySend,
): Promise<Outcome> {
  const state: SubmitState = { session, results: [], outcome: null, onLate, maySend };
  const [only] = submits;
  if (only && submits.length === 1) recordResult(deps, state, await session.request(only, maySend), 0);
  else {
    await Promise.all(submits.map((submit, place) => submitPart(deps, state, submit, place)));
    if (state.results.some(({ kind }) => kind === "taken")) await resubmitBusyParts(deps, state, submits);
  }
  return (state.outcome = combine(state));
}

async function submitPart(deps: SubmitPartsDeps, state: SubmitState, submit: SubmitSm, place: number): Promise<void> {
  recordResult(deps, state, await state.session.request(submit, state.maySend), place);
}

function recordResult(deps: SubmitPartsDeps, state: SubmitState, response: Answered, place: number): void {
  state.results[place] = resultOf(deps, response);
  if (response.kind === "timeout") deps.expectLate(state.session, response.sequence, lateHandler(deps, state, place));
}

function resultOf(deps: SubmitPartsDeps, response: Answered): PartResult {
  if (response.kind === "answer") return classify(deps, response.pdu);
  if (response.kind === "timeout") return { kind: "unknown", description: "The carrier did not answer in time" };
  return response.wasWritten
    ? { kind: "unknown", description: "The connection ended before the answer came" }
    : { kind: "unsent" };
}

function classify({ clock, policy, onResponse }: SubmitPartsDeps, pdu: Response): PartResult {
  const verdict = classifySubmit(pdu.status, policy);
  onResponse(verdict);
  if (verdict.kind !== "taken") return verdict;
  const id = pdu.command === "submit_sm_resp" ? pdu.messageId : "";
  // A carrier without ids sends no receipts that could match. Submitting again would deliver the message twice.
  return { kind: "taken", id: id === "" ? `unnamed-${newId(clock.now())}` : id };
}

/** A separate closure, because it is kept for long and must not hold the message text. */
const lateHandler =
  (deps: SubmitPartsDeps, state: SubmitState, place: number) =>
  (pdu: Response): void => {
    state.results[place] = classify(deps, pdu);
    if (state.outcome?.kind !== "unknown") return;
    state.outcome = combine(state);
    if (state.outcome.kind !== "unknown") state.onLate(state.outcome);
  };

/** The accepted parts of a message are useless without the others. */
async function resubmitBusyParts(
  deps: SubmitPartsDeps,
  state: SubmitState,
  submits: readonly SubmitSm[],
): Promise<void> {
  for (const [place, submit] of submits.entries()) {
    for (let tries = 1; tries < TRIES; tries += 1) {
      const part = state.results[place];
      if (part?.kind !== "busy") break;
      await new Promise<void>((resolve) => void deps.clock.after(part.retryAfterMs, resolve));
      await submitPart(deps, state, submit, place);
    }
  }
}

/** Taken if all parts are. Unknown if some may have been: receipts of single parts cannot complete the message. */
function combine({ session, results }: SubmitState): Outcome {
  const [only] = results;
  if (only && results.length === 1) return outcomeOf(session, only);
  // The session is in another state than expected, also for the next message.
  if (results.some(({ kind }) => kind === "session")) session.destroy();
  const ids = results.flatMap((part) => (part.kind === "taken" ? [part.id] : []));
  const [first] = ids;
  if (first !== undefined && ids.length === results.length)
    return { kind: "taken", carrierMessageId: first, partIds: ids };
  const refused = results.findIndex(({ kind }) => kind === "refused");
  const part = results[refused];
  if (part?.kind === "refused") {
    const { fault, code, description } = part;
    // Another carrier would deliver the accepted parts a second time.
    const isAlone = results.every(({ kind }) => kind !== "taken" && kind !== "unknown");
    const blame = isAlone ? fault : "message";
    return {
      kind: "refused",
      fault: blame,
      code,
      description: `Part ${refused + 1} of ${results.length}: ${description}`,
    };
  }
  const doubtful = results.find(({ kind }) => kind === "unknown");
  if (doubtful) return outcomeOf(session, doubtful);
  if (ids.length > 0) return { kind: "unknown", description: "The carrier took some of its parts and not the others" };
  return outcomeOf(session, results.find(({ kind }) => kind !== "taken") ?? { kind: "unsent" });
}

function outcomeOf(session: Session, results: PartResult): Outcome {
  switch (results.kind) {
    case "taken":
      return { kind: "taken", carrierMessageId: results.id };
    case "busy":
      // An error of the SMSC concerns this message alone, and SMPP names no time: the pauses of its type apply.
      return results.cause === "trouble" ? { kind: "busy" } : { kind: "busy", retryAfterMs: results.retryAfterMs };
    case "refused": {
      const { fault, code, description } = results;
      return { kind: "refused", fault, code, description };
    }
    case "session":
      // The session is in another state than expected; the connection rebinds at once.
      session.destroy();
      return { kind: "down", description: results.description };
    case "unsent":
      return { kind: "down", description: "The connection ended before it was sent" };
    case "unknown":
    default:
      return results;
  }
}
