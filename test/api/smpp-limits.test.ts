import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { AdmissionController } from "../../src/pipeline/accept/admission-controller.ts";
import type { Outcome } from "../../src/smpp/request-window.ts";
import { encode } from "../../src/smpp/encode.ts";
import { submitSm, type SubmitSm } from "../../src/smpp/pdu.ts";
import type { Session } from "../../src/smpp/session.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import {
  cancelStatus,
  idIn,
  phone,
  queryStatus,
  senderOf,
  SmppTestClients,
  statOf,
  uuidOf,
} from "../support/smpp-client.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";

const HOUR_MS = 3_600_000;
const LATER = "000001000000000R";

describe.each(ENGINES)("limits of SMPP clients on %s", (engine) => {
  let server: TestServer;
  let clients: SmppTestClients;
  beforeAll(async () => {
    server = await startTestServer(engine, { env: { HELIOGRAPH_SMPP_PORT: "0", HELIOGRAPH_SMPP_RECEIPT_HOURS: "1" } });
    clients = new SmppTestClients(server);
  });
  afterEach(() => clients.closeAll());
  afterAll(() => server.close());

  it("a credential without the scope sms submits and cancels nothing", async () => {
    const client = await clients.connect(await clients.create({ scopes: ["read"] }));
    expect(await client.submit()).toMatchObject({ status: STATUS.ESME_RPROHIBITED });
    expect(await cancelStatus(client, "0".repeat(32), "15550100100")).toBe(STATUS.ESME_RPROHIBITED);
    expect(await queryStatus(client, "0".repeat(32))).toBe(STATUS.ESME_RQUERYFAIL);
  });

  it("a credential without the scope read queries nothing", async () => {
    const client = await clients.connect(await clients.create({ scopes: ["sms"] }));
    const { status, messageId } = await client.submit({ destination: phone("15550100400") });
    expect(status).toBe(STATUS.ESME_ROK);
    expect(await queryStatus(client, messageId)).toBe(STATUS.ESME_RPROHIBITED);
  });

  it("changed scopes apply to an open bind", async () => {
    const credential = await clients.create();
    const client = await clients.connect(credential);
    expect((await client.submit()).status).toBe(STATUS.ESME_ROK);
    expect((await server.request("PATCH", `/api/credentials/${credential.id}`, { scopes: ["read"] })).status).toBe(200);
    await eventually(
      async () => (await client.submit()).status,
      (status) => status === STATUS.ESME_RPROHIBITED,
    );
  });

  it("requestsPerSecond is refused for an SMPP credential, which has messagesPerSecond", async () => {
    const ask = { kind: "smpp", name: "Reseller", requestsPerSecond: 5 };
    const created = await server.request<{ error: ErrorBody }>("POST", "/api/credentials", ask);
    expect([created.status, created.body.error.parameter]).toEqual([400, "requestsPerSecond"]);
    const { id } = await clients.create({ requestsPerSecond: null });
    const changed = await server.request<{ error: ErrorBody }>("PATCH", `/api/credentials/${id}`, {
      requestsPerSecond: 5,
    });
    expect([changed.status, changed.body.error.message]).toEqual([400, expect.stringContaining("messagesPerSecond")]);
  });

  it("a system id finds neither messages of another one nor those that came by HTTP, also without receipts", async () => {
    const [mine, other] = [
      await clients.connect(await clients.create()),
      await clients.connect(await clients.create()),
    ];
    const to = "15550100401";
    const submitted = await mine.submit({
      destination: phone(to),
      registeredDelivery: 0,
      scheduleDeliveryTime: LATER,
    });
    const sent = await server.send({ to: `+${to}`, sender: "SHOP", sendAt: Date.now() + HOUR_MS });
    const byHttp = (sent.body.id ?? "").replaceAll("-", "");
    for (const id of [submitted.messageId, byHttp]) {
      expect(await queryStatus(other, id)).toBe(STATUS.ESME_RQUERYFAIL);
      expect(await cancelStatus(other, id, to)).toBe(STATUS.ESME_RINVMSGID);
    }
    expect(await queryStatus(mine, byHttp)).toBe(STATUS.ESME_RQUERYFAIL);
    expect(await queryStatus(mine, submitted.messageId)).toBe(STATUS.ESME_ROK);
    expect(await cancelStatus(mine, submitted.messageId, to)).toBe(STATUS.ESME_ROK);
    expect(mine.received).toEqual([]);
  });

  it("a bind from another network than the allowed ones is refused, and a changed list ends open binds", async () => {
    const elsewhere = await clients.create({ allowedIps: ["203.0.113.0/24"] });
    expect((await clients.tryBind(elsewhere)).result).toEqual({ kind: "refused", status: STATUS.ESME_RBINDFAIL });
    const here = await clients.create({ allowedIps: ["127.0.0.0/8"] });
    const { session } = await clients.connect(here);
    await server.asOwner("PATCH", `/api/credentials/${here.id}`, { allowedIps: ["203.0.113.7"] });
    expect(await session.closed).toMatchObject({ reason: "unbound", by: "peer" });
  });

  it("a system id that requires TLS is refused on the plain port", async () => {
    const credential = await clients.create({ requireTls: true });
    expect((await clients.tryBind(credential)).result).toEqual({ kind: "refused", status: STATUS.ESME_RBINDFAIL });
  });

  it("a failed bind is in the audit log once for many", async () => {
    const credential = await clients.create();
    for (let tries = 0; tries < 3; tries += 1) await clients.tryBind({ ...credential, password: "wrong" });
    interface Entry {
      action: string;
      recordId: string;
      recordName: string;
    }
    const entries = async () => {
      const { body } = await server.asOwner<{ data: Entry[] }>("GET", "/api/audit?what=bind%20failed");
      return body.data.filter(({ recordId }) => recordId === credential.id);
    };
    const found = await eventually(entries, ({ length }) => length > 0);
    expect(found).toEqual([expect.objectContaining({ action: "bind failed", recordName: credential.username })]);
  });

  it("a connection that is cut while it binds leaves the bind to the next one", async () => {
    const credential = await clients.create({ maxBinds: 1 });
    const { username: systemId, password } = credential;
    const addressRange = { ton: 0, npi: 0, address: "" };
    const rest = { systemType: "", interfaceVersion: 0x34, addressRange, tlvs: [] };
    const octets = encode({ command: "bind_transceiver", systemId, password, ...rest }, 1);
    for (let cuts = 0; cuts < 5; cuts += 1) {
      const socket = connect(server.app.smppPorts.plain ?? 0, "127.0.0.1");
      await new Promise<void>((resolve) => void socket.write(octets, () => resolve()));
      socket.destroy();
    }
    // Well before a minute, after which rows without a session are removed.
    const { result } = await eventually(
      () => clients.tryBind(credential),
      (tried) => tried.result.kind === "bound",
      20_000,
    );
    expect(result.kind).toBe("bound");
  });

  it("the trace of a bind has the bind, keep-alives and malformed PDUs, with their sequence numbers and no password", async () => {
    const credential = await clients.create();
    const { username: systemId, password } = credential;
    const addressRange = { ton: 0, npi: 0, address: "" };
    const rest = { systemType: "", interfaceVersion: 0x34, addressRange, tlvs: [] };
    const socket = connect(server.app.smppPorts.plain ?? 0, "127.0.0.1").resume();
    socket.write(encode({ command: "bind_transceiver", systemId, password, ...rest }, 7));
    socket.write(encode({ command: "enquire_link" }, 8));
    socket.write(Buffer.from("00000010000001230000000000000009", "hex"));
    interface Listed {
      data: { id: string; systemId: string }[];
    }
    const bound = await eventually(
      async () =>
        (await server.request<Listed>("GET", "/api/smpp-binds")).body.data.find((each) => each.systemId === systemId),
      (found) => found !== undefined,
    );
    interface Traced {
      data:
        | { direction: string; sequence: number; command: string; status: number | null; fault: string | null }[]
        | null;
    }
    const { body } = await eventually(
      () => server.request<Traced>("GET", `/api/smpp-binds/${bound?.id}/pdus`),
      (answer) => (answer.body.data?.length ?? 0) >= 6,
    );
    const seen = (body.data ?? []).map(({ direction, sequence, command }) => `${direction} ${sequence} ${command}`);
    expect(new Set(seen)).toEqual(
      new Set([
        "in 7 bind_transceiver",
        "out 7 bind_transceiver_resp",
        "in 8 enquire_link",
        "out 8 enquire_link_resp",
        "in 9 0x00000123",
        "out 9 generic_nack",
      ]),
    );
    expect(body.data?.find(({ sequence, direction }) => sequence === 9 && direction === "in")?.fault).toContain(
      "0x00000123",
    );
    expect(JSON.stringify(body)).not.toContain(password);
    socket.destroy();
  });

  it("a submit beyond the window is throttled, and those within it are accepted", async () => {
    const client = await clients.connect(await clients.create({ window: 2 }), { window: 50 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => client.submit({ destination: phone("15550100402") })),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    expect(statuses).toEqual(new Set([STATUS.ESME_ROK, STATUS.ESME_RTHROTTLED]));
  });

  it("bit 4 of registered_delivery adds an intermediate receipt before the final one", async () => {
    const client = await clients.connect(await clients.create());
    const { messageId } = await client.submit({ destination: phone("15550100403"), registeredDelivery: 0x11 });
    const own = () => client.received.filter((pdu) => idIn(pdu) === messageId);
    await eventually(own, ({ length }) => length === 2);
    expect(own().map(statOf)).toEqual(["ENROUTE", "DELIVRD"]);
    expect(own().map(({ esmClass }) => esmClass)).toEqual([0x20, 0x04]);
  });

  it("data_coding 0 has the alphabet of the system id", async () => {
    const octets = Buffer.from([0x40, 0x24, 0x05]);
    const cases = { gsm7: "¡¤é", ascii: "@$\u0005", latin1: "@$\u0005" };
    for (const [index, [alphabet, text]] of Object.entries(cases).entries()) {
      const to = `1555010041${index}`;
      const client = await clients.connect(await clients.create({ alphabet }));
      expect((await client.submit({ destination: phone(to), shortMessage: octets })).status).toBe(STATUS.ESME_ROK);
      const [message] = await eventually(
        () => server.onPhone(to),
        ({ length }) => length === 1,
      );
      expect([alphabet, message?.text]).toEqual([alphabet, text]);
    }
  });

  describe("with policies in force", () => {
    beforeAll(() => server.request("PATCH", "/api/account", { limits: "everywhere" }));

    it("a promotion to a number that has opted out is refused with a status of its own", async () => {
      const to = "15550100406";
      expect((await server.request("POST", "/api/optouts", { number: to })).status).toBeLessThan(300);
      const client = await clients.connect(await clients.create());
      const promote = (serviceType: string) => client.submit({ destination: phone(to), serviceType });
      expect(await promote("PROMO")).toEqual({ status: STATUS.ESME_RINVDSTADR, messageId: "" });
      expect((await promote("TRANS")).status).toBe(STATUS.ESME_ROK);
    });

    it("a promotion in quiet hours waits for their end", async () => {
      const { body } = await server.request<{ data: { id: string }[] }>("GET", "/api/routes");
      const hourInIndia = (shiftMs: number) =>
        new Date(Date.now() + 5.5 * HOUR_MS + shiftMs).toISOString().slice(11, 16);
      const quietHours = { from: hourInIndia(-HOUR_MS), to: hourInIndia(2 * HOUR_MS) };
      await server.request("PATCH", `/api/routes/${body.data[0]?.id}`, { quietHours });
      const client = await clients.connect(await clients.create());
      const { messageId } = await client.submit({ destination: phone("919876543210"), serviceType: "PROMO" });
      expect(await server.message(`${uuidOf(messageId)}:1`)).toMatchObject({ state: "scheduled" });
      await server.request("PATCH", `/api/routes/${body.data[0]?.id}`, { quietHours: null });
    });

    it("a submit that the credits do not cover is refused", async () => {
      expect((await server.request("PATCH", "/api/account", { credits: "metered" })).status).toBe(200);
      const client = await clients.connect(await clients.create());
      const { status } = await client.submit({ destination: phone("15550100407") });
      expect(status).toBe(STATUS.ESME_RSUBMITFAIL);
      expect(await server.onPhone("15550100407")).toEqual([]);
    });
  });
});

describe.each(ENGINES)("an SMPP server under pressure on %s", (engine) => {
  let server: TestServer;
  let clients: SmppTestClients;
  let stop: () => Promise<void>;
  beforeEach(async () => {
    server = await startTestServer(engine, { env: { HELIOGRAPH_SMPP_PORT: "0" } });
    clients = new SmppTestClients(server);
    let stopped: Promise<void> | null = null;
    stop = () => (stopped ??= server.close());
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    clients.closeAll();
    await stop();
  });

  const flood = (session: Session, count: number, to: string): Promise<Outcome>[] =>
    Array.from({ length: count }, () => session.request(submit(to)));
  const submit = (to: string): SubmitSm =>
    submitSm({
      source: senderOf("SHOP"),
      destination: phone(to),
      shortMessage: Buffer.from("Hello"),
      registeredDelivery: 0,
    });

  it("an overloaded server answers ESME_RMSGQFUL", async () => {
    const client = await clients.connect(await clients.create());
    vi.spyOn(AdmissionController.prototype, "isRefusing").mockReturnValue(true);
    expect(await client.submit()).toEqual({ status: STATUS.ESME_RMSGQFUL, messageId: "" });
  });

  it("a server that is held after a restore answers ESME_RMSGQFUL", async () => {
    const client = await clients.connect(await clients.create());
    expect((await client.submit()).status).toBe(STATUS.ESME_ROK);
    await server.app.store.saveHold(
      JSON.stringify({ since: Date.now(), reason: "operator", snapshotAt: null, resume: null }),
    );
    await eventually(
      async () => (await client.submit()).status,
      (status) => status === STATUS.ESME_RMSGQFUL,
    );
  });

  it("a stop answers the submits that it has, unbinds, and takes no more", async () => {
    const client = await clients.connect(await clients.create(), { window: 100 });
    const answers = Promise.all(flood(client.session, 20, "15550100501"));
    const port = server.app.smppPorts.plain ?? 0;
    expect((await client.submit()).status).toBe(STATUS.ESME_ROK);
    const stopped = stop();
    const statuses = (await answers).map((outcome) => (outcome.kind === "answer" ? outcome.pdu.status : outcome.kind));
    expect(new Set(statuses)).toEqual(new Set([STATUS.ESME_ROK]));
    expect(await client.session.closed).toEqual({ reason: "unbound", by: "peer" });
    await stopped;
    const { result } = await clients.tryBind({ username: "any", password: "any" }, { port });
    expect(result.kind).toBe("unreachable");
  });
});
