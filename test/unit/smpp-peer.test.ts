import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import smpp, { type ForeignPdu, type ForeignSession } from "smpp";
import { afterEach, describe, expect, test } from "vitest";
import { bind, type BindOptions, type BindResult } from "../../src/smpp/client.ts";
import { deliverSm, submitSm, type Bind, type BindCommand, type Request } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { listen, type ServerOptions, type SmppServer, type BindDecision } from "../../src/smpp/server.ts";
import type { Incoming, OnRequest, Session } from "../../src/smpp/session.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { findTlv, tlv } from "../../src/smpp/tlv.ts";
import { issueCertificates } from "../support/certificates.ts";

/** The npm package `smpp` as an independent peer, on either side. */

const acme = { ton: 5, npi: 0, address: "ACME" };
const phone = { ton: 1, npi: 1, address: "919876543210" };
const host = "127.0.0.1";
const afterwards: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of afterwards.splice(0).toReversed()) await cleanUp();
});

const bound = (result: BindResult): Session => {
  if (result.kind !== "bound") throw new Error(`not bound: ${JSON.stringify(result)}`);
  return result.session;
};

/** A list that tests can await. */
class Inbox<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];

  put(item: T): void {
    const next = this.#waiting.shift();
    if (next) next(item);
    else this.#items.push(item);
  }

  take(): Promise<T> {
    const item = this.#items.shift();
    return item === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(item);
  }
}

interface Foreign {
  port: number;
  session(): Promise<ForeignSession>;
  requests: Inbox<ForeignPdu>;
}

/** An independent SMSC: accepts the right password and answers everything with an id. */
async function theirServer(options: object = {}): Promise<Foreign> {
  const sessions = new Inbox<ForeignSession>();
  const requests = new Inbox<ForeignPdu>();
  const open = new Set<ForeignSession>();
  let ids = 0;
  const server: Server = smpp.createServer(options, (session) => {
    open.add(session);
    sessions.put(session);
    session.on("error", () => session.destroy());
    session.on("pdu", (pdu: ForeignPdu) => {
      if (pdu.command.endsWith("_resp") || pdu.command === "generic_nack") return;
      requests.put(pdu);
      if (pdu.command.startsWith("bind")) {
        const ok = pdu["password"] === "secret";
        session.send(pdu.response(ok ? { system_id: "theirs", sc_interface_version: 0x34 } : { command_status: 0x0e }));
      } else session.send(pdu.response({ message_id: `id-${(ids += 1)}`, message_state: 2 }));
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  afterwards.push(() => {
    for (const session of open) session.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, session: () => sessions.take(), requests };
}

async function ourClient(port: number, options: Partial<BindOptions> = {}): Promise<Session> {
  const session = bound(
    await bind({ host, port, systemId: "ours", password: "secret", onRequest: () => null, ...options }),
  );
  afterwards.push(() => session.destroy());
  return session;
}

describe("our client with another server", () => {
  test.each<BindCommand>(["bind_transceiver", "bind_transmitter", "bind_receiver"])("%s", async (as) => {
    const { port, requests } = await theirServer();
    const result = await bind({
      host,
      port,
      as,
      systemId: "ours",
      password: "secret",
      systemType: "OTA",
      addressRange: { ton: 1, npi: 1, address: "^91" },
      onRequest: () => null,
    });
    expect(result).toMatchObject({ kind: "bound", systemId: "theirs", interfaceVersion: 0x34 });
    expect(await requests.take()).toMatchObject({
      command: as,
      system_id: "ours",
      password: "secret",
      system_type: "OTA",
      interface_version: 0x34,
      addr_ton: 1,
      addr_npi: 1,
      address_range: "^91",
    });
    bound(result).destroy();
  });

  test("a wrong password is refused with its status", async () => {
    const { port } = await theirServer();
    const result = await bind({ host, port, systemId: "ours", password: "wrong", onRequest: () => null });
    expect(result).toEqual({ kind: "refused", status: STATUS.ESME_RINVPASWD });
  });

  test("a submit arrives unchanged, with known TLVs and vendor TLVs", async () => {
    const { port, requests } = await theirServer();
    const session = await ourClient(port);
    await requests.take();
    const outcome = await session.request(
      submitSm({
        serviceType: "CMT",
        source: acme,
        destination: phone,
        esmClass: 0x40,
        priorityFlag: 2,
        registeredDelivery: 1,
        dataCoding: 4,
        shortMessage: Buffer.from("050003a00201ff00", "hex"),
        tlvs: [
          { tag: 0x1400, value: Buffer.from("1701158019811140068") },
          tlv("user_message_reference", 4711),
          tlv("sar_total_segments", 3),
        ],
      }),
    );
    expect(outcome).toMatchObject({ kind: "answer", pdu: { command: "submit_sm_resp", status: 0, messageId: "id-1" } });
    const seen = await requests.take();
    expect(seen).toMatchObject({
      command: "submit_sm",
      service_type: "CMT",
      source_addr_ton: 5,
      source_addr: "ACME",
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: "919876543210",
      esm_class: 0x40,
      priority_flag: 2,
      registered_delivery: 1,
      data_coding: 4,
      user_message_reference: 4711,
      sar_total_segments: 3,
    });
    expect(seen[0x1400]).toEqual(Buffer.from("1701158019811140068"));
    expect(seen["short_message"]).toMatchObject({
      udh: [Buffer.from("0003a00201", "hex")],
      message: Buffer.from("ff00", "hex"),
    });
  });

  test("a message_payload of 15,000 octets arrives", async () => {
    const { port, requests } = await theirServer();
    const session = await ourClient(port);
    await requests.take();
    const payload = Buffer.alloc(15_000, 0x61);
    await session.request(submitSm({ dataCoding: 4, tlvs: [tlv("message_payload", payload)] }));
    expect(await requests.take()).toMatchObject({ message_payload: { message: payload } });
  });

  test.each<[Request, object, object]>([
    [
      { command: "data_sm", serviceType: "", source: acme, destination: phone, esmClass: 0, registeredDelivery: 1, dataCoding: 4, tlvs: [] },
      { source_addr: "ACME", destination_addr: "919876543210", registered_delivery: 1, data_coding: 4 },
      { command: "data_sm_resp", status: 0, messageId: "id-1" },
    ],
    [
      { command: "query_sm", messageId: "abc", source: acme, tlvs: [] },
      { message_id: "abc", source_addr_ton: 5, source_addr: "ACME" },
      { command: "query_sm_resp", status: 0, messageId: "id-1", messageState: 2 },
    ],
    [
      { command: "cancel_sm", serviceType: "", messageId: "abc", source: acme, destination: phone, tlvs: [] },
      { message_id: "abc", source_addr: "ACME", destination_addr: "919876543210" },
      { command: "cancel_sm_resp", status: 0 },
    ],
    [
      { command: "replace_sm", messageId: "abc", source: acme, scheduleDeliveryTime: "", validityPeriod: "", registeredDelivery: 1, defaultMessageId: 7, shortMessage: Buffer.from("new"), tlvs: [] },
      { message_id: "abc", source_addr: "ACME", registered_delivery: 1, sm_default_msg_id: 7, short_message: Buffer.from("new") },
      { command: "replace_sm_resp", status: 0 },
    ],
    [
      { ...submitSm({ source: acme, dataCoding: 4, shortMessage: Buffer.from("hi") }), command: "submit_multi", destinations: [{ kind: "address", address: phone }, { kind: "list", name: "friends" }] },
      { dest_address: [{ dest_addr_ton: 1, dest_addr_npi: 1, destination_addr: "919876543210" }, { dl_name: "friends" }], short_message: { message: Buffer.from("hi") } },
      { command: "submit_multi_resp", status: 0, messageId: "id-1", failures: [] },
    ],
  ])("$command arrives and is answered", async (pdu, seen, answer) => {
    const { port, requests } = await theirServer();
    const session = await ourClient(port);
    await requests.take();
    expect(await session.request(pdu)).toMatchObject({ kind: "answer", pdu: answer });
    expect(await requests.take()).toMatchObject({ command: pdu.command, ...seen });
  }); // prettier-ignore

  test("a receipt arrives with its TLVs, and is answered by the handler", async () => {
    const received = new Inbox<Incoming>();
    const foreign = await theirServer();
    await ourClient(foreign.port, {
      onRequest: async (pdu) => {
        received.put(pdu);
        return pdu.command === "deliver_sm" ? responseTo(pdu, { status: STATUS.ESME_RX_T_APPN }) : null;
      },
    });
    const theirs = await foreign.session();
    const answered = new Promise<ForeignPdu>((resolve) =>
      theirs.deliver_sm(
        {
          source_addr: "919876543210",
          destination_addr: "ACME",
          esm_class: 4,
          short_message: Buffer.from("id:abc stat:DELIVRD"),
          receipted_message_id: "abc",
          message_state: 2,
        },
        resolve,
      ),
    );
    const pdu = await received.take();
    if (pdu.command !== "deliver_sm") throw new Error(`${pdu.command} came`);
    expect([pdu.source.address, pdu.destination.address, pdu.esmClass]).toEqual(["919876543210", "ACME", 4]);
    expect(pdu.shortMessage.toString()).toBe("id:abc stat:DELIVRD");
    expect(findTlv(pdu.tlvs, "receipted_message_id")).toBe("abc");
    expect(findTlv(pdu.tlvs, "message_state")).toBe(2);
    expect(await answered).toMatchObject({ command: "deliver_sm_resp", command_status: STATUS.ESME_RX_T_APPN });
  });

  test("both sides send enquire_link", async () => {
    const foreign = await theirServer();
    const session = await ourClient(foreign.port);
    expect(await session.request({ command: "enquire_link" })).toMatchObject({ kind: "answer" });
    const theirs = await foreign.session();
    const pdu = await new Promise<ForeignPdu>((resolve) => theirs.enquire_link({}, resolve));
    expect(pdu).toMatchObject({ command: "enquire_link_resp", command_status: 0 });
  });

  test("a thousand submits in a window of fifty are answered, each with its own id", async () => {
    const { port } = await theirServer();
    const session = await ourClient(port, { window: 50 });
    const outcomes = await Promise.all(
      Array.from({ length: 1000 }, () => session.request(submitSm({ dataCoding: 4 }))),
    );
    const ids = outcomes.map(
      (outcome) => outcome.kind === "answer" && "messageId" in outcome.pdu && outcome.pdu.messageId,
    );
    expect(ids).toEqual(Array.from({ length: 1000 }, (_, index) => `id-${index + 1}`));
  });

  test("our unbind is answered, and so is theirs", async () => {
    const foreign = await theirServer();
    expect(await (await ourClient(foreign.port)).unbind()).toEqual({ reason: "unbound", by: "us" });
    await foreign.session();
    const second = await ourClient(foreign.port);
    const theirs = await foreign.session();
    const answered = new Promise<ForeignPdu>((resolve) => theirs.unbind({}, resolve));
    expect(await second.closed).toEqual({ reason: "unbound", by: "peer" });
    expect(await answered).toMatchObject({ command: "unbind_resp", command_status: 0 });
  });

  test("TLS connects only to servers with a trusted certificate", async () => {
    const { ca, cert, key } = issueCertificates();
    const { port } = await theirServer({ key, cert });
    const tryWith = (tls: BindOptions["tls"]): Promise<BindResult> =>
      bind({ host, port, systemId: "ours", password: "secret", onRequest: () => null, ...(tls ? { tls } : {}) });
    const good = await tryWith({ ca });
    expect(good.kind).toBe("bound");
    bound(good).destroy();
    expect(await tryWith({ ca: issueCertificates().ca })).toMatchObject({ kind: "unreachable" });
    expect(await tryWith({})).toMatchObject({ kind: "unreachable" });
    expect(await tryWith({ ca, servername: "carrier.example" })).toMatchObject({
      kind: "unreachable",
      reason: expect.stringContaining("carrier.example"),
    });
    const unchecked = await tryWith({ rejectUnauthorized: false });
    expect(unchecked.kind).toBe("bound");
    bound(unchecked).destroy();
  });
});

interface Ours {
  server: SmppServer;
  binds: Bind[];
  requests: Inbox<Incoming>;
}

async function ourServer(
  options: Partial<ServerOptions> & { answer?: OnRequest; onBound?: (session: Session) => void } = {},
): Promise<Ours> {
  const {
    answer = (pdu) => (pdu.command === "submit_sm" ? responseTo(pdu, { messageId: "ours-1" }) : null),
    onBound,
    ...rest
  } = options;
  const binds: Bind[] = [];
  const requests = new Inbox<Incoming>();
  const welcome: BindDecision = {
    kind: "accepted",
    onRequest(pdu, session) {
      requests.put(pdu);
      return answer(pdu, session);
    },
    ...(onBound ? { onBound } : {}),
  };
  const server = await listen({
    host,
    port: 0,
    systemId: "ours",
    onBind(pdu) {
      binds.push(pdu);
      return pdu.password === "secret" ? welcome : { kind: "refused", status: STATUS.ESME_RINVPASWD };
    },
    ...rest,
  });
  afterwards.push(() => server.close());
  return { server, binds, requests };
}

async function theirClient(port: number, options: object = {}): Promise<ForeignSession> {
  const session = smpp.connect({ host, port, ...options });
  session.on("error", () => session.destroy());
  afterwards.push(() => session.destroy());
  await once(session, "tls" in options ? "secureConnect" : "connect");
  return session;
}

const asked = (
  session: ForeignSession,
  command:
    | "bind_transceiver"
    | "bind_transmitter"
    | "bind_receiver"
    | "submit_sm"
    | "data_sm"
    | "enquire_link"
    | "unbind",
  fields: object = {},
): Promise<ForeignPdu> => new Promise((resolve) => session[command](fields, resolve));

const credentials = { system_id: "theirs", password: "secret", interface_version: 0x34 };

describe("another client with our server", () => {
  test.each(["bind_transceiver", "bind_transmitter", "bind_receiver"] as const)("%s", async (command) => {
    const { server, binds } = await ourServer();
    const session = await theirClient(server.port);
    expect(await asked(session, command, credentials)).toMatchObject({
      command: `${command}_resp`,
      command_status: 0,
      system_id: "ours",
      sc_interface_version: 0x34,
    });
    expect(binds).toMatchObject([{ command, systemId: "theirs", password: "secret" }]);
    expect(server.sessions.size).toBe(1);
  });

  test("a wrong password is refused, and the right one is accepted afterwards", async () => {
    const { server } = await ourServer();
    const session = await theirClient(server.port);
    const refused = await asked(session, "bind_transceiver", { ...credentials, password: "wrong" });
    expect([refused.command_status, server.sessions.size]).toEqual([STATUS.ESME_RINVPASWD, 0]);
    expect((await asked(session, "bind_transceiver", credentials)).command_status).toBe(0);
  });

  test("requests before a bind, a second bind and submits of a receiver are refused", async () => {
    const { server, requests } = await ourServer();
    const session = await theirClient(server.port);
    expect((await asked(session, "submit_sm")).command_status).toBe(STATUS.ESME_RINVBNDSTS);
    expect((await asked(session, "bind_receiver", credentials)).command_status).toBe(0);
    expect((await asked(session, "bind_receiver", credentials)).command_status).toBe(STATUS.ESME_RALYBND);
    expect((await asked(session, "submit_sm")).command_status).toBe(STATUS.ESME_RINVBNDSTS);
    void asked(session, "data_sm");
    expect((await requests.take()).command).toBe("data_sm");
  });

  test("a submit arrives with its text and TLVs", async () => {
    const { server, requests } = await ourServer();
    const session = await theirClient(server.port);
    await asked(session, "bind_transmitter", credentials);
    const answer = await asked(session, "submit_sm", {
      source_addr: "ACME",
      source_addr_ton: 5,
      destination_addr: "919876543210",
      short_message: "hello",
      data_coding: 0,
      user_message_reference: 4711,
      message_payload: Buffer.from("long"),
    });
    expect(answer).toMatchObject({ command: "submit_sm_resp", command_status: 0, message_id: "ours-1" });
    const pdu = await requests.take();
    if (pdu.command !== "submit_sm") throw new Error(`${pdu.command} came`);
    expect([pdu.source, pdu.destination.address]).toEqual([acme, "919876543210"]);
    expect(pdu.shortMessage.toString()).toBe("hello");
    expect(findTlv(pdu.tlvs, "user_message_reference")).toBe(4711);
    expect(findTlv(pdu.tlvs, "message_payload")?.toString()).toBe("long");
  });

  test("an error response without a body is understood", async () => {
    const { server } = await ourServer({
      answer: (pdu) => (pdu.command === "submit_sm" ? responseTo(pdu, { status: STATUS.ESME_RTHROTTLED }) : null),
    });
    const session = await theirClient(server.port);
    await asked(session, "bind_transmitter", credentials);
    expect((await asked(session, "submit_sm")).command_status).toBe(STATUS.ESME_RTHROTTLED);
  });

  test("a bound ESME receives a message after its bind response", async () => {
    const outcomes = new Inbox<unknown>();
    const { server } = await ourServer({
      onBound: (session) =>
        void session
          .request(
            deliverSm({
              source: phone,
              destination: acme,
              esmClass: 4,
              shortMessage: Buffer.from("id:abc"),
              tlvs: [tlv("receipted_message_id", "abc"), tlv("message_state", 2)],
            }),
          )
          .then((outcome) => outcomes.put(outcome)),
    });
    const session = await theirClient(server.port);
    const order: string[] = [];
    session.on("pdu", (pdu: ForeignPdu) => order.push(pdu.command));
    const delivered = once(session, "deliver_sm") as Promise<[ForeignPdu]>;
    await asked(session, "bind_transceiver", credentials);
    const [pdu] = await delivered;
    expect(order).toEqual(["bind_transceiver_resp", "deliver_sm"]);
    expect(pdu).toMatchObject({
      source_addr: "919876543210",
      receipted_message_id: "abc",
      message_state: 2,
      esm_class: 4,
    });
    session.send(pdu.response());
    expect(await outcomes.take()).toMatchObject({ kind: "answer", pdu: { command: "deliver_sm_resp", status: 0 } });
  });

  test("both sides send enquire_link", async () => {
    const { server } = await ourServer();
    const session = await theirClient(server.port);
    session.on("enquire_link", (pdu: ForeignPdu) => session.send(pdu.response()));
    await asked(session, "bind_transceiver", credentials);
    expect((await asked(session, "enquire_link")).command_status).toBe(0);
    const [ours] = server.sessions;
    expect(await ours?.request({ command: "enquire_link" })).toMatchObject({ kind: "answer" });
  });

  test("both sides can unbind", async () => {
    const { server } = await ourServer();
    const first = await theirClient(server.port);
    await asked(first, "bind_transceiver", credentials);
    const closed = once(first, "close");
    expect((await asked(first, "unbind")).command_status).toBe(0);
    await closed;
    const second = await theirClient(server.port);
    await asked(second, "bind_transceiver", credentials);
    second.on("unbind", (pdu: ForeignPdu) => second.send(pdu.response()));
    const [ours] = server.sessions;
    await server.close();
    expect(await ours?.closed).toEqual({ reason: "unbound", by: "us" });
    expect(server.sessions.size).toBe(0);
  });

  test("a field that is too long is refused with a status, and the session continues", async () => {
    const { server } = await ourServer();
    const session = await theirClient(server.port);
    await asked(session, "bind_transceiver", credentials);
    const answer = await asked(session, "submit_sm", { destination_addr: "9".repeat(40) });
    expect(answer.command_status).toBe(STATUS.ESME_RINVDSTADR);
    expect((await asked(session, "enquire_link")).command_status).toBe(0);
  });

  test("the server supports TLS", async () => {
    const { ca, cert, key } = issueCertificates();
    const { server } = await ourServer({ tls: { cert, key } });
    const session = await theirClient(server.port, { tls: true, ca, rejectUnauthorized: true });
    expect((await asked(session, "bind_transceiver", credentials)).command_status).toBe(0);
  });
});

describe("our client with our server", () => {
  test.each(["plain", "TLS"])(
    "requests and responses stay matched when more is sent than a %s connection accepts at once",
    async (kind) => {
      const { ca, cert, key } = issueCertificates();
      const payloadOf = (index: number): Buffer => Buffer.alloc((index * 7919) % 60_000, index % 251);
      const wrong: string[] = [];
      const { server } = await ourServer({
        ...(kind === "TLS" ? { tls: { cert, key } } : {}),
        answer: async (pdu) => {
          if (pdu.command !== "submit_sm") return null;
          const index = Number(pdu.destination.address);
          const payload = findTlv(pdu.tlvs, "message_payload");
          // Deferred until later octets were read, so that an overwritten buffer would be detected.
          await new Promise((resolve) => setImmediate(resolve));
          if (!payload?.equals(payloadOf(index))) wrong.push(pdu.destination.address);
          return responseTo(pdu, { messageId: pdu.destination.address });
        },
      });
      const session = await ourClient(server.port, { window: 200, ...(kind === "TLS" ? { tls: { ca } } : {}) });
      const outcomes = await Promise.all(
        Array.from({ length: 1000 }, (_, index) =>
          session.request(
            submitSm({
              destination: { ton: 1, npi: 1, address: String(index) },
              tlvs: [tlv("message_payload", payloadOf(index))],
            }),
          ),
        ),
      );
      const ids = outcomes.map(
        (outcome) => outcome.kind === "answer" && "messageId" in outcome.pdu && outcome.pdu.messageId,
      );
      expect(wrong).toEqual([]);
      expect(ids).toEqual(Array.from({ length: 1000 }, (_, index) => String(index)));
    },
  );

  test("a client certificate is required and verified", async () => {
    const { ca, cert, key } = issueCertificates();
    const { server } = await ourServer({ tls: { cert, key, ca, requestCert: true, rejectUnauthorized: true } });
    const tryWith = (tls: BindOptions["tls"]): Promise<BindResult> =>
      bind({
        host,
        port: server.port,
        systemId: "ours",
        password: "secret",
        onRequest: () => null,
        ...(tls ? { tls } : {}),
      });
    expect((await tryWith({ ca })).kind).toBe("unreachable");
    const good = await tryWith({ ca, cert, key });
    expect(good.kind).toBe("bound");
    await bound(good).unbind();
  });

  test("an optional client certificate is reported, may be missing, and may not be a wrong one", async () => {
    const [{ ca, cert, key }, strangers] = [issueCertificates(), issueCertificates()];
    const proved: boolean[] = [];
    const { server } = await ourServer({
      tls: { cert, key, ca, requestCert: true, rejectUnauthorized: false },
      onBind(_, { hasCertificate }) {
        proved.push(hasCertificate);
        return { kind: "accepted", onRequest: () => null };
      },
    });
    const login = { host, port: server.port, systemId: "ours", password: "secret", onRequest: () => null };
    await bound(await bind({ ...login, tls: { ca } })).unbind();
    await bound(await bind({ ...login, tls: { ca, cert, key } })).unbind();
    expect((await bind({ ...login, tls: { ca, cert: strangers.cert, key: strangers.key } })).kind).toBe("unreachable");
    expect(proved).toEqual([false, true]);
  });

  test("a peer that is absent, hangs up, stays silent or is aborted is unreachable with a reason", async () => {
    const options = { host, systemId: "ours", password: "secret", onRequest: () => null };
    const { server } = await ourServer({ onBind: () => new Promise<BindDecision>(() => {}) });
    const called = new AbortController();
    const pending = bind({ ...options, port: server.port, signal: called.signal });
    called.abort();
    expect(await pending).toMatchObject({ kind: "unreachable" });
    expect(await bind({ ...options, port: server.port, signal: called.signal })).toEqual({
      kind: "unreachable",
      reason: "it was called off",
    });
    const hanging = bind({ ...options, port: server.port });
    const { port } = server;
    await new Promise((resolve) => setImmediate(resolve));
    await server.close();
    expect(await hanging).toMatchObject({ kind: "unreachable" });
    expect(await bind({ ...options, port })).toMatchObject({
      kind: "unreachable",
      reason: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("a bind that cannot be encoded rejects", async () => {
    const { server } = await ourServer();
    const tooLong = bind({ host, port: server.port, systemId: "x".repeat(16), password: "", onRequest: () => null });
    await expect(tooLong).rejects.toThrow("systemId has 16 characters; it takes 15");
  });
});
