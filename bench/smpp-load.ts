import smpp from "smpp";
import { bind } from "../src/smpp/client.ts";
import { submitSm, type SubmitSm } from "../src/smpp/pdu.ts";
import type { Outcome } from "../src/smpp/request-window.ts";
import type { Session } from "../src/smpp/session.ts";

/** An ESME as a process of its own, ours or the npm package's: keeps a window full of submits for a while. */

export interface SmppLoad {
  port: number;
  window: number;
  seconds: number;
}

export interface SmppMeasured {
  perSecond: number;
  /** Of this process; the SMSC has another. */
  cpuMicros: number;
}

const host = "127.0.0.1";
/** Finished octets for both: with words the package would take half as much time again, to find their alphabet. */
const TEXT = Buffer.from("Your one-time password is 482913. It is valid for ten minutes. Tell it nobody.");

/** Written once: to make a text of a number takes as much as a tenth of a submit. */
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

/** A callback for each submit, as the package has it too; the session keeps the window and tells of free places. */
async function loadOurs({ port, window }: SmppLoad, isOver: () => boolean): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let answered = 0;
  const settle = (outcome: Outcome): void => {
    if (outcome.kind === "answer" && outcome.pdu.status === 0) answered += 1;
    else reject(new Error(`a submit ended as ${JSON.stringify(outcome)}`));
  };
  const fill = (session: Session): void => {
    if (isOver()) return session.pending === 0 ? resolve() : undefined;
    for (let { free } = session; free > 0; free -= 1) session.ask(nextMessage(), settle);
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

/** The package knows no window, so it is kept here: the next submit when one is answered. */
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
      for (let place = 0; place < window; place += 1) submit();
    });
  });
  session.on("error", reject);
  return promise;
}

const load = process.argv[2] === "ours" ? loadOurs : loadTheirs;
process.on("message", (asked: SmppLoad) => {
  const startedAt = performance.now();
  const endsAt = startedAt + asked.seconds * 1000;
  const cpuBefore = process.cpuUsage();
  void load(asked, () => performance.now() >= endsAt).then((answered) => {
    const { user, system } = process.cpuUsage(cpuBefore);
    const measured: SmppMeasured = {
      perSecond: answered / ((performance.now() - startedAt) / 1000),
      cpuMicros: (user + system) / answered,
    };
    process.send?.(measured);
  });
});
process.once("disconnect", () => process.exit());
