import type { AddressInfo } from "node:net";
import smpp, { type ForeignPdu } from "smpp";
import { responseTo } from "../src/smpp/respond.ts";
import { listen } from "../src/smpp/server.ts";

/** SMSC in its own process, ours or the npm package's, that acknowledges every submit with an id. */

const host = "127.0.0.1";
let ids = 0;
const nextId = (): string => (ids += 1).toString(16).padStart(16, "0");

if (process.argv[2] === "ours") {
  const { port } = await listen({
    host,
    port: 0,
    onBind: () => ({
      kind: "accepted",
      onRequest: (pdu) => (pdu.command === "submit_sm" ? responseTo(pdu, { messageId: nextId() }) : null),
    }),
  });
  process.send?.(port);
} else {
  const server = smpp.createServer({}, (session) => {
    session.on("error", () => session.destroy());
    session.on("bind_transceiver", (pdu: ForeignPdu) => session.send(pdu.response()));
    session.on("unbind", (pdu: ForeignPdu) => session.send(pdu.response()));
    session.on("submit_sm", (pdu: ForeignPdu) => session.send(pdu.response({ message_id: nextId() })));
  });
  server.listen(0, host, () => process.send?.((server.address() as AddressInfo).port));
}
process.once("disconnect", () => process.exit());
