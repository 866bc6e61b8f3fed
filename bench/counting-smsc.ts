import { deliverSm, type SubmitSm } from "../src/smpp/pdu.ts";
import { responseTo } from "../src/smpp/respond.ts";
import { listen } from "../src/smpp/server.ts";
import type { Session } from "../src/smpp/session.ts";

/**
 * SMSC in its own process. It acknowledges every submit, sends a receipt where one is requested, and replies to each
 * message from the parent with the number of submits.
 */

interface Submission {
  id: string;
  pdu: SubmitSm;
  session: Session;
}

let ids = 0;
let unreported: Submission[] = [];

/** Receipts are sent once per event-loop iteration: one write per receipt would cost more than all other work here. */
function report(): void {
  for (const { id, pdu, session } of unreported) {
    const text = `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:`;
    const receipt = { esmClass: 0x04, shortMessage: Buffer.from(text, "latin1") };
    session.sendRequest(deliverSm({ source: pdu.destination, destination: pdu.source, ...receipt }), () => {});
  }
  unreported = [];
}

const { port } = await listen({
  host: "127.0.0.1",
  window: 1000,
  port: 0,
  onBind: () => ({
    kind: "accepted",
    onRequest: (pdu, session) => {
      if (pdu.command !== "submit_sm") return null;
      ids += 1;
      const id = String(ids);
      if (pdu.registeredDelivery & 1 && unreported.push({ id, pdu, session }) === 1) setImmediate(report);
      return responseTo(pdu, { messageId: id });
    },
  }),
});
process.on("message", () => process.send?.({ received: ids }));
process.once("disconnect", () => process.exit());
process.send?.(port);
