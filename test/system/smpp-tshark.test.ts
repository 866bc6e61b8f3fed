import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { bind } from "../../src/smpp/client.ts";
import { COMMAND_IDS } from "../../src/smpp/commands.ts";
import { encode } from "../../src/smpp/encode.ts";
import { deliverSm, submitSm, type Address, type Pdu } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { listen } from "../../src/smpp/server.ts";
import { tlv, TLVS, type TlvName } from "../../src/smpp/tlv.ts";
import type { Captured } from "../support/pcap.ts";
import { GOLDENS } from "../support/smpp-goldens.ts";
import { tshark, tsharkFaults, tsharkFields } from "../support/tshark.ts";

/** Checks our PDUs with Wireshark's dissector, an independent implementation of the same specification. */

const afterwards: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of afterwards.splice(0).toReversed()) await cleanUp();
});

const said = (pdu: Pdu, sequence = 1): Captured => ({
  from: "status" in pdu ? "server" : "client",
  octets: encode(pdu, sequence),
});

const addressFields = (name: "source" | "dest" | "esme", { ton, npi, address }: Address): Record<string, string[]> => ({
  [`smpp.${name}_addr_ton`]: [hex(ton)],
  [`smpp.${name}_addr_npi`]: [hex(npi)],
  [name === "dest" ? "smpp.destination_addr" : `smpp.${name}_addr`]: [address],
});
const hex = (value: number): string => `0x${value.toString(16).padStart(2, "0")}`;

/** The fields that tshark should read in a PDU. */
function expectedFields(pdu: Pdu, sequence: number): Record<string, string[]> {
  const expected: Record<string, string[]> = {
    "smpp.command_id": [`0x${COMMAND_IDS[pdu.command].toString(16).padStart(8, "0")}`],
    "smpp.sequence_number": [String(sequence)],
  };
  if ("status" in pdu) {
    expected["smpp.command_status"] = [`0x${pdu.status.toString(16).padStart(8, "0")}`];
    // In a response with an error status, tshark reads the header only.
    if (pdu.status !== 0) return expected;
  }
  if ("source" in pdu) Object.assign(expected, addressFields("source", pdu.source));
  if ("destination" in pdu) Object.assign(expected, addressFields("dest", pdu.destination));
  if ("esme" in pdu) Object.assign(expected, addressFields("esme", pdu.esme));
  if ("systemType" in pdu) expected["smpp.system_type"] = [pdu.systemType];
  if ("systemId" in pdu && pdu.systemId !== "") expected["smpp.system_id"] = [pdu.systemId];
  if ("password" in pdu) expected["smpp.password"] = [pdu.password];
  if ("addressRange" in pdu) expected["smpp.address_range"] = [pdu.addressRange.address];
  if ("serviceType" in pdu && pdu.serviceType !== "") expected["smpp.service_type"] = [pdu.serviceType];
  if ("messageId" in pdu && pdu.messageId !== "") expected["smpp.message_id"] = [pdu.messageId];
  if ("dataCoding" in pdu) expected["smpp.data_coding"] = [hex(pdu.dataCoding)];
  if ("esmClass" in pdu) expected["smpp.esm.submit.features"] = [hex(pdu.esmClass >> 6)];
  if ("registeredDelivery" in pdu) expected["smpp.regdel.receipt"] = [hex(pdu.registeredDelivery & 3)];
  if ("priorityFlag" in pdu) expected["smpp.priority_flag"] = [hex(pdu.priorityFlag)];
  if ("defaultMessageId" in pdu) expected["smpp.sm_default_msg_id"] = [String(pdu.defaultMessageId)];
  if ("shortMessage" in pdu) expected["smpp.sm_length"] = [String(pdu.shortMessage.length)];
  if ("shortMessage" in pdu && pdu.shortMessage.length > 0)
    expected["smpp.message"] = [pdu.shortMessage.toString("hex")];
  if ("messageState" in pdu) expected["smpp.message_state"] = [String(pdu.messageState)];
  if ("tlvs" in pdu && pdu.tlvs.length > 0) {
    expected["smpp.opt_param_tag"] = pdu.tlvs.map(({ tag }) => `0x${tag.toString(16).padStart(4, "0")}`);
    expected["smpp.opt_param_len"] = pdu.tlvs.map(({ value }) => String(value.length));
  }
  return expected;
}

describe("tshark", () => {
  test("tshark reads every field of every PDU kind as written", async () => {
    const expected = GOLDENS.map(({ pdu, sequence }) => expectedFields(pdu, sequence));
    const fields = [...new Set(expected.flatMap(Object.keys))];
    const seen = await tsharkFields(
      GOLDENS.map(({ pdu, sequence }) => said(pdu, sequence)),
      fields,
    );
    expect(seen).toHaveLength(GOLDENS.length);
    expect(seen).toMatchObject(expected);
  });

  test("finds nothing malformed in any of them, and does in PDUs that are", async () => {
    expect(await tsharkFaults(GOLDENS.map(({ pdu, sequence }) => said(pdu, sequence)))).toEqual([]);
    const wrong = encode(submitSm({ shortMessage: Buffer.from("hello") }), 1);
    wrong[wrong.length - 6] = 200;
    expect(await tsharkFaults([{ from: "client", octets: wrong }])).toHaveLength(1);
  });

  test("reads times as we mean them", async () => {
    const pdu = submitSm({ scheduleDeliveryTime: "260101120000000+", validityPeriod: "000000001000000R" });
    const [seen] = await tsharkFields([said(pdu)], ["smpp.schedule_delivery_time", "smpp.validity_period_r"]);
    expect(seen?.["smpp.schedule_delivery_time"]?.[0]).toContain("Jan  1, 2026 12:00:00");
    expect(seen?.["smpp.validity_period_r"]).toEqual(["600.000000000"]);
  });

  test("knows every parameter that we name, under the same name and with its value", async () => {
    const names = Object.keys(TLVS) as TlvName[];
    const values = { uint8: 1, uint16: 0x0102, uint32: 0x0102_0304, cstring: "text" };
    const octetsFor: Partial<Record<TlvName, string>> = { network_error_code: "030102", alert_on_message_delivery: "", ussd_service_op: "01", its_session_info: "0102" };
    const tlvs = names.map((name) => {
      const { form } = TLVS[name];
      return tlv(name, (form === "octets" ? Buffer.from(octetsFor[name] ?? "0102", "hex") : values[form]) as never);
    });
    const lines = (await tshark([said(submitSm({ tlvs }))], "-V")).map((line) => line.trim());
    const shown = lines.flatMap((line) => /^Optional parameter: (\w+) \((0x\w+)\)/.exec(line)?.slice(1, 3).join(" ") ?? []);
    expect(shown.map((line) => line.toLowerCase())).toEqual(
      names.map((name) => `${name.replace("destination_port", "dest_port")} 0x${TLVS[name].tag.toString(16).padStart(4, "0")}`),
    );
    const [seen] = await tsharkFields([said(submitSm({ tlvs }))], [
      "smpp.user_message_reference", "smpp.qos_time_to_live", "smpp.receipted_message_id", "smpp.network_error.code", "smpp.message_state",
    ]);
    expect(seen).toEqual({
      "smpp.user_message_reference": ["0x0102"],
      "smpp.qos_time_to_live": ["16909060"],
      "smpp.receipted_message_id": ["text"],
      "smpp.network_error.code": ["0x0102"],
      "smpp.message_state": ["1"],
    });
    expect(await tsharkFaults([said(submitSm({ tlvs }))])).toEqual([]);
  }); // prettier-ignore

  test("puts a long PDU together from several packets", async () => {
    // It takes none above 64 KiB.
    const pdu = submitSm({ tlvs: [tlv("message_payload", Buffer.alloc(65_000, 0x61))] });
    const seen = await tsharkFields([said(pdu)], ["smpp.command_length", "smpp.opt_param_len"]);
    expect(seen.at(-1)).toEqual({ "smpp.command_length": ["65037"], "smpp.opt_param_len": ["65000"] });
    expect(await tsharkFaults([said(pdu)])).toEqual([]);
  });

  test("reads a whole conversation of our two ends, with many PDUs in a packet and PDUs in several", async () => {
    const capture: Captured[] = [];
    const port = await tapped(capture, await converse());
    const bound = await bind({
      host: "127.0.0.1",
      port,
      systemId: "esme",
      password: "secret",
      window: 60,
      onRequest: (pdu) => (pdu.command === "deliver_sm" ? responseTo(pdu) : null),
    });
    if (bound.kind !== "bound") throw new Error("not bound");
    const { session } = bound;
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => session.request(submitSm({ shortMessage: Buffer.alloc(index % 200, 0x61) }))),
    );
    await session.request({ command: "enquire_link" });
    await session.request({ command: "query_sm", messageId: "1", source: { ton: 0, npi: 0, address: "" }, tlvs: [] });
    await session.unbind();
    expect(await tsharkFaults(capture)).toEqual([]);
    const rows = await tsharkFields(capture, ["smpp.command_id"]);
    const counts = new Map<string, number>();
    for (const id of rows.flatMap((row) => row["smpp.command_id"] ?? []))
      counts.set(id, (counts.get(id) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({
      "0x00000009": 1, "0x80000009": 1, "0x00000004": 300, "0x80000004": 300, "0x00000005": 20, "0x80000005": 20,
      "0x00000015": 1, "0x80000015": 1, "0x00000003": 1, "0x80000003": 1, "0x00000006": 1, "0x80000006": 1,
    });
  }); // prettier-ignore
});

/** An SMSC of ours that sends something too; gives its port. */
async function converse(): Promise<number> {
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    systemId: "smsc",
    window: 20,
    onBind: () => ({
      kind: "accepted",
      onRequest: (pdu) =>
        pdu.command === "submit_sm" || pdu.command === "query_sm" ? responseTo(pdu, { messageId: "abc" }) : null,
      onBound: (session) => {
        for (let index = 0; index < 20; index += 1)
          void session.request(deliverSm({ esmClass: 4, tlvs: [tlv("receipted_message_id", `id-${index}`)] }));
      },
    }),
  });
  afterwards.push(() => server.close());
  return server.port;
}

/** A port that leads to another, and notes what goes through. */
async function tapped(capture: Captured[], to: number): Promise<number> {
  const tap = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    near.on("data", (octets: Buffer) => capture.push({ from: "client", octets })).pipe(far);
    far.on("data", (octets: Buffer) => capture.push({ from: "server", octets })).pipe(near);
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
  });
  tap.listen(0, "127.0.0.1");
  await once(tap, "listening");
  afterwards.push(() => tap.close());
  return (tap.address() as AddressInfo).port;
}
