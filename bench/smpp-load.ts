import smpp from "smpp";
import { bind } from "../src/smpp/client.ts";
import { submitSm, type SubmitSm } from "../src/smpp/pdu.ts";
import type { Outcome } from "../src/smpp/request-window.ts";
import type { Session } from "../src/smpp/session.ts";

/** ESME in its own process, ours or the npm package's, that keeps the window full of submits for a while. */

export interface SmppLoad {
  port: number;
  window: number;
  seconds: number;
}

export interface SmppMeasured {
  perSecond: number;
  /** CPU time of this process only; the SMSC is another process. */
  cpuMicros: number;
}

const host = "127.0.0.1";
/** Encoded octets for both sides: with a string the package takes half as long again, to detect its encoding. */
const TEXT = Buffer.from("Your one-time password is 482913. It is valid for ten minutes. Keep it secret.");

/** Precomputed, because formatting a number costs up to a tenth of a submit. */
const RECIPIENTS = Array.from({ length: 1000 }, (_, index) => String(15_550_100_000 + index));
let sent = 0;
const nextRecipient = (): string => RECIPIENTS[(sent += 1) % RECIPIENTS.length] ?? "";

const nextMessage = (): SubmitSm =>
  submitSm({
    source: { ton: 5, npi: 0, address: "HELIOG" },
    destination: { ton: 1, npi: 1, address: nextRecipient() },
    registeredDelivery: 1,
    shortMessage: TEXT,
  });

/** One callback per submit, as the package has it. The session enforces the window and signals free slots. */
async function loadOurs({ port, window }: SmppLoad, isOver: () => boolean): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let answered = 0;
  const settle = (outcome: Outcome): void => {
    if (outcome.kind === "answer" && outcome.pdu.status === 0) answered += 1;
    else reject(new Error(`a submit ended as ${JSON.stringify(outcome)}`));
  };
  const fill = (session: Session): void => {
    if (isOver()) return session.pending === 0 ? resolve() : undefined;
    for (let { free } = session; free > 0; free -= 1) session.sendRequest(nextMessage(), settle);
  };
  const bound = await bind({
    host,
    port,
    systemId: "bench",
    password: "secret",
    window,
    onRequest: () => null,
    onFree: fill,
  });
  if (bound.kind !== "bound") throw new Error(`no bind: ${JSON.stringify(bound)}`);
  fill(bound.session);
  await promise;
  await bound.session.unbind();
  return answered;
}

/** The package has no window, so this function enforces it: each response triggers the next submit. */
function loadTheirs({ port, window }: SmppLoad, isOver: () => boolean): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let answered = 0;
  let pending = 0;
  const session = smpp.connect({ host, port }, () => {
    const submit = (): void => {
      pending += 1;
      session.submit_sm(
        {
          source_addr_ton: 5,
          source_addr: "HELIOG",
          dest_addr_ton: 1,
          dest_addr_npi: 1,
          destination_addr: nextRecipient(),
          registered_delivery: 1,
          data_coding: 0,
          short_message: TEXT,
        },
        ({ command_status }) => {
          pending -= 1;
          if (command_status !== 0) return reject(new Error(`a submit was refused with ${command_status}`));
          answered += 1;
          if (!isOver()) return submit();
          if (pending === 0) session.close(() => resolve(answered));
        },
      );
    };
    session.bind_transceiver({ system_id: "bench", password: "secret" }, () => {
      for (let index = 0; index < window; index += 1) submit();
    });
  });
  session.on("error", reject);
  return promise;
}

const load = process.argv[2] === "ours" ? loadOurs : loadTheirs;
process.on("message", (options: SmppLoad) => {
  const startedAt = performance.now();
  const endsAt = startedAt + options.seconds * 1000;
  const cpuBefore = process.cpuUsage();
  void load(options, () => performance.now() >= endsAt).then((answered) => {
    const { user, system } = process.cpuUsage(cpuBefore);
    const measured: SmppMeasured = {
      perSecond: answered / ((performance.now() - startedAt) / 1000),
      cpuMicros: (user + system) / answered,
    };
    process.send?.(measured);
  });
});
process.once("disconnect", () => process.exit());
