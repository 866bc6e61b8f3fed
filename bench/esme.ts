import { bind } from "../src/smpp/client.ts";
import { submitSm, type SubmitSm } from "../src/smpp/pdu.ts";
import type { Outcome } from "../src/smpp/request-window.ts";
import { responseTo } from "../src/smpp/respond.ts";
import type { Session } from "../src/smpp/session.ts";
import { serveLoads } from "./load-process.ts";
import { TEXT } from "./requests.ts";

/** A client of the SMPP server in its own process: one bind that keeps its window full of submits for a while. */

export interface EsmeLoad {
  port: number;
  systemId: string;
  password: string;
  window: number;
  seconds: number;
  /** Asks for receipts, and ends when the last one is here. */
  receipts: boolean;
}

export interface EsmeMeasured {
  answers: number;
  refused: number;
  perSecond: number;
}

const STALLED_MS = 30_000;
const OCTETS = Buffer.from(TEXT);
const RECIPIENTS = Array.from({ length: 1000 }, (_, index) => String(15_550_100_000 + index));
let sent = 0;

const nextSubmit = (receipts: boolean): SubmitSm =>
  submitSm({
    source: { ton: 5, npi: 0, address: "HELIOG" },
    destination: { ton: 1, npi: 1, address: RECIPIENTS[(sent += 1) % RECIPIENTS.length] ?? "" },
    registeredDelivery: receipts ? 1 : 0,
    shortMessage: OCTETS,
  });

async function load({ port, systemId, password, window, seconds, receipts }: EsmeLoad): Promise<EsmeMeasured> {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let endsAt = Infinity;
  let answers = 0;
  let refused = 0;
  let received = 0;
  let receivedAt = 0;
  const settle = (outcome: Outcome): void => {
    if (outcome.kind === "answer" && outcome.pdu.status === 0) answers += 1;
    else refused += 1;
  };
  const fill = (session: Session): void => {
    if (performance.now() >= endsAt) return session.pending === 0 ? resolve() : undefined;
    for (let { free } = session; free > 0; free -= 1) session.sendRequest(nextSubmit(receipts), settle);
  };
  const bound = await bind({
    host: "127.0.0.1",
    port,
    systemId,
    password,
    window,
    onFree: fill,
    onRequest: (pdu) => {
      if (pdu.command !== "deliver_sm") return null;
      received += 1;
      receivedAt = performance.now();
      return responseTo(pdu);
    },
  });
  if (bound.kind !== "bound") throw new Error(`no bind: ${JSON.stringify(bound)}`);
  const startedAt = performance.now();
  endsAt = startedAt + seconds * 1000;
  fill(bound.session);
  await answered;
  let doneAt = performance.now();
  if (receipts) {
    while (received < answers && performance.now() - Math.max(receivedAt, doneAt) < STALLED_MS)
      await new Promise((wake) => setTimeout(wake, 5));
    if (received < answers) throw new Error(`${received} receipts of ${answers} came`);
    doneAt = Math.max(doneAt, receivedAt);
  }
  await bound.session.unbind();
  return { answers, refused, perSecond: answers / ((doneAt - startedAt) / 1000) };
}

serveLoads(load);
