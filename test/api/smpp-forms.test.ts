import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import type { DeliverSm, SubmitSm } from "../../src/smpp/pdu.ts";
import type { Answer } from "../../src/smpp/session.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { tlv } from "../../src/smpp/tlv.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { idIn, phone, SmppTestClients, statOf, uuidOf } from "../support/smpp-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const HOUR_MS = 3_600_000;

let phones = 15_550_180_000;
const nextPhone = (): string => String((phones += 1));

describe.each(ENGINES)("forms of submits and receipts over SMPP on %s", (engine) => {
  let server: TestServer;
  let clients: SmppTestClients;

  beforeAll(async () => {
    server = await startTestServer(engine, { env: { HELIOGRAPH_SMPP_PORT: "0" } });
    clients = new SmppTestClients(server);
  });
  afterEach(() => clients.closeAll());
  afterAll(() => server?.close());

  const udh16 = (index: number): Partial<SubmitSm> => ({
    esmClass: 0x40,
    shortMessage: Buffer.concat([Buffer.from([6, 8, 4, 1, 2, 2, index]), Buffer.from(`part ${index} `)]),
  });
  const sar = (index: number): Partial<SubmitSm> => ({
    shortMessage: Buffer.from(`part ${index} `),
    tlvs: [tlv("sar_msg_ref_num", 258), tlv("sar_total_segments", 2), tlv("sar_segment_seqnum", index)],
  });
  const inPayload = (form: Partial<SubmitSm>): Partial<SubmitSm> => ({
    ...form,
    shortMessage: Buffer.alloc(0),
    tlvs: [...(form.tlvs ?? []), tlv("message_payload", form.shortMessage ?? Buffer.alloc(0))],
  });

  it.each([
    ["a header with a reference of 16 bits", [udh16(2), udh16(1)]],
    ["sar TLVs", [sar(2), sar(1)]],
    ["sar TLVs with message_payload", [inPayload(sar(2)), inPayload(sar(1))]],
    ["message_payload alone", [inPayload({ shortMessage: Buffer.from("part 1 part 2 ") })]],
  ])("a long text by %s arrives whole, and each submit gets its receipt", async (_, submits) => {
    const credential = await clients.create();
    const to = nextPhone();
    const binds = await Promise.all(submits.map(() => clients.connect(credential)));
    const ids: string[] = [];
    for (const [index, fields] of submits.entries()) {
      const answer = await binds[index]?.submit({ destination: phone(to), ...fields });
      expect(answer?.status).toBe(STATUS.ESME_ROK);
      ids.push(answer?.messageId ?? "");
    }
    const receipts = () => binds.flatMap(({ received }) => received.map((pdu) => `${idIn(pdu)} ${statOf(pdu)}`));
    await eventually(receipts, (seen) => ids.every((id) => seen.includes(`${id} DELIVRD`)));
    expect((await server.onPhone(to)).map(({ text }) => text)).toEqual(["part 1 part 2 "]);
  });

  it.each([
    ["relative", "000000020000000R", "000000010000000R"],
    ["absolute", written(2 * HOUR_MS), written(3 * HOUR_MS)],
  ])(
    "a submit with a %s time is sent then, and valid for an hour from then",
    async (_, scheduleDeliveryTime, validityPeriod) => {
      const client = await clients.connect(await clients.create());
      const submittedAt = Date.now();
      const { messageId } = await client.submit({
        destination: phone(nextPhone()),
        scheduleDeliveryTime,
        validityPeriod,
      });
      const message = await server.message(`${uuidOf(messageId)}:1`);
      expect(message.state).toBe("scheduled");
      expect(Math.abs((message.dueAt ?? 0) - submittedAt - 2 * HOUR_MS)).toBeLessThan(HOUR_MS / 4);
      const stored = await server.app.store.findMessage({ accountId: 1, requestId: uuidOf(messageId), n: 1 });
      expect(Math.abs((stored?.expiresAt ?? 0) - (message.dueAt ?? 0) - HOUR_MS)).toBeLessThan(HOUR_MS / 4);
    },
  );

  it("service_type chooses the route type", async () => {
    const client = await clients.connect(await clients.create({ defaultType: "PROMO" }));
    for (const [serviceType, type] of [
      ["otp", "OTP"],
      ["TRANS", "TRANS"],
      ["CMT", "PROMO"],
    ] as const) {
      const { messageId } = await client.submit({ destination: phone(nextPhone()), serviceType });
      const stored = await server.app.store.findMessage({ accountId: 1, requestId: uuidOf(messageId), n: 1 });
      expect(stored?.routeClass).toBe(type);
    }
  });

  it("a client has at most its window of receipts without a response, and gets those again after a cut", async () => {
    const credential = await clients.create({ window: 2 });
    const submitter = await clients.connect(credential, { as: "bind_transmitter" });
    const unanswered: DeliverSm[] = [];
    const hold = (pdu: unknown): Promise<Answer> => {
      unanswered.push(pdu as DeliverSm);
      return new Promise(() => {});
    };
    const silent = await clients.connect(credential, { as: "bind_receiver", onRequest: hold });
    const ids = new Set<string>();
    for (let n = 0; n < 6; n += 1) ids.add((await submitter.submit({ destination: phone(nextPhone()) })).messageId);
    await eventually(
      () => Promise.all([...ids].map((id) => server.message(`${uuidOf(id)}:1`))),
      (messages) => messages.every(({ state }) => state === "delivered"),
    );
    await eventually(
      () => unanswered.length,
      (count) => count === 2,
    );
    // A third receipt would come before this response.
    expect((await silent.session.request({ command: "enquire_link" })).kind).toBe("answer");
    expect(unanswered).toHaveLength(2);
    silent.session.destroy();
    const again = await clients.connect(credential, { as: "bind_receiver" });
    const reported = await eventually(
      () => again.received.map(idIn),
      (seen) => seen.length >= ids.size,
    );
    expect(reported.toSorted()).toEqual([...ids].toSorted());
    // Acknowledged receipts do not come a second time.
    again.session.destroy();
    const last = await clients.connect(credential);
    const { messageId } = await last.submit({ destination: phone(nextPhone()) });
    await eventually(
      () => last.received.map(idIn),
      (seen) => seen.includes(messageId),
    );
    expect(last.received.map(idIn)).toEqual([messageId]);
  });
});

test("a server listens for SMPP clients only with a port, and only with the role smpp", async () => {
  for (const env of [{}, { HELIOGRAPH_SMPP_PORT: "0", HELIOGRAPH_ROLES: "api,dispatch,callbacks" }]) {
    const server = await startTestServer("sqlite", { env: { ...env } });
    expect(server.app.smppPorts).toEqual({ plain: null, tls: null });
    await server.close();
  }
});

/** An absolute time in the form of SMPP, in UTC. */
function written(fromNowMs: number): string {
  const digits = new Date(Date.now() + fromNowMs).toISOString().replaceAll(/[-:T]/g, "");
  return `${digits.slice(2, 14)}000+`;
}
