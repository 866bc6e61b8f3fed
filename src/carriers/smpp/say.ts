import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/ids.ts";
import type { Response, SubmitSm } from "../../smpp/pdu.ts";
import type { Outcome as Answered } from "../../smpp/request-window.ts";
import type { Session } from "../../smpp/session.ts";
import type { KnownOutcome, Outcome } from "../carrier.ts";
import { judgeSubmit, type StatusPolicy, type SubmitVerdict } from "./status.ts";

/** A part that the carrier cannot take at this moment is said again so often, because its siblings have been taken. */
const TRIES = 5;

/** What became of one part. */
type Said =
  | { kind: "taken"; id: string }
  | Exclude<SubmitVerdict, { kind: "taken" }>
  /** Certainly not taken: it was never written. */
  | { kind: "unsaid" }
  | { kind: "unknown"; description: string };

export interface SayNeeds {
  clock: Clock;
  policy: StatusPolicy;
  /** Told of every answer to a submit. */
  onVerdict(verdict: SubmitVerdict): void;
  /** Asked to listen for an answer that has not come in its time. */
  expectLate(session: Session, sequence: number, take: (pdu: Response) => void): void;
}

/** What has been said of a message and what came of it, for as long as an answer may still come. */
interface Saying {
  session: Session;
  said: Said[];
  /** What was made of the answers when no more of them were waited for. */
  outcome: Outcome | null;
  /** Told what became of a message that was in doubt, once late answers have made it known. */
  onLate(outcome: KnownOutcome): void;
}

/** Says all parts of a message on one bind, in order, and makes one outcome of the answers. */
export async function say(
  needs: SayNeeds,
  session: Session,
  submits: readonly SubmitSm[],
  onLate: Saying["onLate"],
): Promise<Outcome> {
  const saying: Saying = { session, said: [], outcome: null, onLate };
  const [only] = submits;
  if (only && submits.length === 1) noteAnswer(needs, saying, await session.request(only), 0);
  else {
    await Promise.all(submits.map((submit, place) => sayPart(needs, saying, submit, place)));
    if (saying.said.some(({ kind }) => kind === "taken")) await sayAgain(needs, saying, submits);
  }
  return (saying.outcome = together(saying));
}

async function sayPart(needs: SayNeeds, saying: Saying, submit: SubmitSm, place: number): Promise<void> {
  noteAnswer(needs, saying, await saying.session.request(submit), place);
}

function noteAnswer(needs: SayNeeds, saying: Saying, answered: Answered, place: number): void {
  saying.said[place] = saidBy(needs, answered);
  if (answered.kind === "timeout") needs.expectLate(saying.session, answered.sequence, lateFor(needs, saying, place));
}

function saidBy(needs: SayNeeds, answered: Answered): Said {
  if (answered.kind === "answer") return judge(needs, answered.pdu);
  if (answered.kind === "timeout") return { kind: "unknown", description: "The carrier did not answer in time" };
  return answered.wasWritten
    ? { kind: "unknown", description: "The connection ended before the answer came" }
    : { kind: "unsaid" };
}

function judge({ clock, policy, onVerdict }: SayNeeds, pdu: Response): Said {
  const verdict = judgeSubmit(pdu.status, policy);
  onVerdict(verdict);
  if (verdict.kind !== "taken") return verdict;
  const id = pdu.command === "submit_sm_resp" ? pdu.messageId : "";
  // One that gives no ids sends no receipts that could be matched either; sent again, the message would arrive twice.
  return { kind: "taken", id: id === "" ? `unnamed-${newId(clock.now())}` : id };
}

/** Made apart from the submits, because it is kept for long and they hold the words. */
const lateFor =
  (needs: SayNeeds, saying: Saying, place: number) =>
  (pdu: Response): void => {
    saying.said[place] = judge(needs, pdu);
    if (saying.outcome?.kind !== "unknown") return;
    saying.outcome = together(saying);
    if (saying.outcome.kind !== "unknown") saying.onLate(saying.outcome);
  };

/** Without its other parts, what was taken of a message is of no use to anybody. */
async function sayAgain(needs: SayNeeds, saying: Saying, submits: readonly SubmitSm[]): Promise<void> {
  for (const [place, submit] of submits.entries()) {
    for (let tries = 1; tries < TRIES; tries += 1) {
      const part = saying.said[place];
      if (part?.kind !== "busy") break;
      await new Promise<void>((resolve) => void needs.clock.after(part.retryAfterMs, resolve));
      await sayPart(needs, saying, submit, place);
    }
  }
}

/** Taken when all parts are. In doubt when some may have been: receipts of those that were cannot make it whole. */
function together({ session, said }: Saying): Outcome {
  const [only] = said;
  if (only && said.length === 1) return outcomeOf(session, only);
  // A bind that is not what it seemed is of no use to the next message either.
  if (said.some(({ kind }) => kind === "session")) session.destroy();
  const ids = said.flatMap((part) => (part.kind === "taken" ? [part.id] : []));
  const [first] = ids;
  if (first !== undefined && ids.length === said.length)
    return { kind: "taken", carrierMessageId: first, partIds: ids };
  const refused = said.findIndex(({ kind }) => kind === "refused");
  const part = said[refused];
  if (part?.kind === "refused") {
    const { fault, code, description } = part;
    // Another carrier would send again what this one has of it, or may have.
    const isAlone = said.every(({ kind }) => kind !== "taken" && kind !== "unknown");
    const blame = isAlone ? fault : "message";
    return {
      kind: "refused",
      fault: blame,
      code,
      description: `Part ${refused + 1} of ${said.length}: ${description}`,
    };
  }
  const doubtful = said.find(({ kind }) => kind === "unknown");
  if (doubtful) return outcomeOf(session, doubtful);
  if (ids.length > 0) return { kind: "unknown", description: "The carrier took some of its parts and not the others" };
  return outcomeOf(session, said.find(({ kind }) => kind !== "taken") ?? { kind: "unsaid" });
}

function outcomeOf(session: Session, said: Said): Outcome {
  switch (said.kind) {
    case "taken":
      return { kind: "taken", carrierMessageId: said.id };
    case "busy":
      return { kind: "busy", retryAfterMs: said.retryAfterMs };
    case "refused": {
      const { fault, code, description } = said;
      return { kind: "refused", fault, code, description };
    }
    case "session":
      // The bind is not what it seemed; a new one is made at once.
      session.destroy();
      return { kind: "down", description: said.description };
    case "unsaid":
      return { kind: "down", description: "The connection ended before it was sent" };
    case "unknown":
    default:
      return said;
  }
}
