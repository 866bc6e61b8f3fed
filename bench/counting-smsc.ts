import { deliverSm, type SubmitSm } from "../src/smpp/pdu.ts";
import { responseTo } from "../src/smpp/respond.ts";
import { listen } from "../src/smpp/server.ts";
import type { Session } from "../src/smpp/session.ts";

/**
 * An SMSC as a process of its own that takes every message, reports it delivered where it was asked to, and tells how many
 * it has taken whenever it is asked.
 */

interface Taken {
  id: string;
  pdu: SubmitSm;
  session: Session;
}

let ids = 0;
let unreported: Taken[] = [];

/** Whatever was taken in one turn is reported together: a write for each would cost more than all else that is done here. */
function report(): void {
  for (const { id, pdu, session } of unreported) {
    const text = `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:`;
    const receipt = { esmClass: 0x04, shortMessage: Buffer.from(text, "latin1") };
    session.ask(deliverSm({ source: pdu.destination, destination: pdu.source, ...receipt }), () => {});
  }
  unreported = [];
}

const { port } = await listen({
  host: "127.0.0.1",
  window: 1000,
  port: 0,
  onBind: () => ({
    kind: "welcome",
    onRequest: (pdu, session) => {
      if (pdu.command !== "submit_sm") return null;
      ids += 1;
      const id = String(ids);
      if (pdu.registeredDelivery & 1 && unreported.push({ id, pdu, session }) === 1) setImmediate(report);
      return responseTo(pdu, { messageId: id });
    },
  }),
});
process.on("message", () => process.send?.({ taken: ids }));
process.once("disconnect", () => process.exit());
process.send?.(port);
