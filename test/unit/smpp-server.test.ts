import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { bind, type BindOptions } from "../../src/smpp/client.ts";
import { encode } from "../../src/smpp/encode.ts";
import { NO_ADDRESS, submitSm, type Pdu, type Request } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { listen, type ServerOptions, type SmppServer } from "../../src/smpp/server.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { tlv } from "../../src/smpp/tlv.ts";
import { issueCertificates } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { TestPeer, settle } from "../support/smpp-connection.ts";

const host = "127.0.0.1";
const afterwards: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of afterwards.splice(0).toReversed()) await cleanUp();
});

async function open(options: Partial<ServerOptions> = {}): Promise<SmppServer> {
  const server = await listen({
    host,
    port: 0,
    onBind: () => ({ kind: "accepted", onRequest: () => null }),
    ...options,
  });
  afterwards.push(() => server.close());
  return server;
}

async function dial(port: number): Promise<TestPeer> {
  const socket = connect({ host, port });
  afterwards.push(() => socket.destroy());
  await once(socket, "connect");
  return new TestPeer(socket);
}

const credentials: Pdu = {
  command: "bind_transceiver",
  systemId: "esme",
  password: "secret",
  systemType: "",
  interfaceVersion: 0x34,
  addressRange: NO_ADDRESS,
  tlvs: [],
};

describe("the SMPP server", () => {
  test("a connection that does not bind in time is closed, and a bound one stays", async () => {
    const clock = new MovedClock();
    const server = await open({ clock, bindWithinMs: 5000, enquireAfterMs: null });
    const idle = await dial(server.port);
    const bound = await dial(server.port);
    bound.send(credentials, 1);
    await bound.next();
    clock.advance(5000);
    await idle.ended();
    bound.send({ command: "enquire_link" }, 2);
    expect((await bound.next()).pdu.command).toBe("enquire_link_resp");
    expect(server.sessions.size).toBe(1);
  });

  test("binds are handled one at a time, and a failing handler is answered with a system error", async () => {
    let isBroken = true;
    const server = await open({
      onBind: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        if (isBroken) throw new Error("the accounts cannot be read");
        return { kind: "accepted", onRequest: () => null };
      },
    });
    const esme = await dial(server.port);
    esme.sendTogether([credentials, 1], [credentials, 2]);
    const answers = (await esme.take(2)).toSorted((a, b) => a.sequence - b.sequence);
    expect(answers).toMatchObject([
      { sequence: 1, pdu: { status: STATUS.ESME_RSYSERR } },
      { sequence: 2, pdu: { status: STATUS.ESME_RALYBND } },
    ]);
    isBroken = false;
    esme.send(credentials, 3);
    expect(await esme.next()).toMatchObject({ sequence: 3, pdu: { status: 0 } });
  });

  test("onBind receives the peer's address", async () => {
    const peers: unknown[] = [];
    const server = await open({
      onBind: (_bind, peer) => {
        peers.push(peer);
        return { kind: "refused", status: STATUS.ESME_RBINDFAIL };
      },
    });
    const esme = await dial(server.port);
    esme.send(credentials, 1);
    await esme.next();
    expect(peers).toEqual([{ address: host, port: (esme.socket as Socket).localPort, hasCertificate: false }]);
  });

  test("connections above the maximum are closed at once", async () => {
    const server = await open({ connectionsMax: 1 });
    const first = await dial(server.port);
    const second = connect({ host, port: server.port });
    await once(second, "close");
    first.send(credentials, 1);
    expect((await first.next()).pdu).toMatchObject({ command: "bind_transceiver_resp", status: 0 });
  });

  test("a connection that is not bound is closed after twenty PDUs, and a bound one is not", async () => {
    const server = await open();
    const [hostile, bound] = [await dial(server.port), await dial(server.port)];
    const flood = Array.from({ length: 30 }, (_, n): [Pdu, number] => [{ command: "enquire_link" }, n + 1]);
    hostile.sendTogether(...flood);
    await once(hostile.socket, "close");
    expect(hostile.received.length).toBeLessThanOrEqual(20);
    bound.send(credentials, 31);
    await bound.next();
    bound.sendTogether(...flood);
    expect((await bound.take(30)).map(({ sequence }) => sequence)).toEqual(flood.map(([, sequence]) => sequence));
  });

  test("a PDU above 1 KiB ends a connection that is not bound, before it is buffered, and is read on a bound one", async () => {
    const server = await open({
      onBind: () => ({ kind: "accepted", onRequest: (pdu) => responseTo(pdu as Request, { status: 0 }) }),
    });
    const long = submitSm({ tlvs: [tlv("message_payload", Buffer.alloc(2000))] });
    const [hostile, bound] = [await dial(server.port), await dial(server.port)];
    hostile.socket.write(encode(long, 1).subarray(0, 20));
    expect((await hostile.next()).pdu).toEqual({ command: "generic_nack", status: STATUS.ESME_RINVCMDLEN });
    await hostile.ended();
    bound.send(credentials, 1);
    await bound.next();
    bound.send(long, 2);
    expect((await bound.next()).pdu).toMatchObject({ command: "submit_sm_resp", status: 0 });
  });

  test("connections of one address that are not bound are limited, and bound or closed ones do not count", async () => {
    const server = await open({ unboundMax: 2 });
    const [idle, bound] = [await dial(server.port), await dial(server.port)];
    const isAdmitted = async (): Promise<boolean> => {
      const peer = await dial(server.port);
      peer.send({ command: "enquire_link" }, 1);
      return Promise.race([peer.next().then(() => true), once(peer.socket, "close").then(() => false)]);
    };
    expect(await isAdmitted()).toBe(false);
    bound.send(credentials, 1);
    await bound.next();
    expect(await isAdmitted()).toBe(true);
    expect(await isAdmitted()).toBe(false);
    idle.socket.destroy();
    expect(await eventually(isAdmitted, (admitted) => admitted)).toBe(true);
  });

  test("a client without TLS affects no other connection", async () => {
    const { ca, cert, key } = issueCertificates();
    const server = await open({ tls: { cert, key } });
    const plain = connect({ host, port: server.port });
    plain.on("error", () => {}).end("hello");
    await once(plain, "close");
    const stranger = connectSecure({ host, port: server.port, ca: issueCertificates().ca });
    await once(stranger, "error");
    const result = await bind({
      host,
      port: server.port,
      tls: { ca },
      systemId: "esme",
      password: "",
      onRequest: () => null,
    });
    expect(result.kind).toBe("bound");
  });

  test("a connection that never starts TLS does not block close", async () => {
    const { cert, key } = issueCertificates();
    const clock = new MovedClock();
    const server = await open({ clock, tls: { cert, key } });
    const stuck = await dial(server.port);
    let isClosed = false;
    const closed = server.close().then(() => (isClosed = true));
    await settle();
    expect(isClosed).toBe(false);
    clock.advance(1000);
    await closed;
    await stuck.ended();
  });

  test("a port in use rejects", async () => {
    const { port } = await open();
    await expect(open({ port })).rejects.toThrow("EADDRINUSE");
  });

  test("close destroys connections that have not bound", async () => {
    const server = await open();
    const idle = await dial(server.port);
    await server.close();
    await idle.ended();
    expect(idle.received).toEqual([]);
  });
});

describe("the SMPP client", () => {
  const options = (port: number, more: Partial<BindOptions> = {}): BindOptions => ({
    host,
    port,
    systemId: "esme",
    password: "secret",
    onRequest: () => null,
    ...more,
  });

  /** An SMSC that does as it is told, or nothing. */
  async function mute(onConnection: (far: TestPeer) => void = () => {}): Promise<{ port: number; open: Set<Socket> }> {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      onConnection(new TestPeer(socket));
    });
    server.listen(0, host);
    await once(server, "listening");
    afterwards.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return { port: (server.address() as AddressInfo).port, open: sockets };
  }

  test("an SMSC that never answers the bind is unreachable after the response time-out", async () => {
    const clock = new MovedClock();
    const heard = Promise.withResolvers<void>();
    const smsc = await mute((far) => void far.next().then(() => heard.resolve()));
    const result = bind(options(smsc.port, { clock, responseTimeoutMs: 5000, enquireAfterMs: null }));
    await heard.promise;
    clock.advance(5000);
    expect(await result).toEqual({ kind: "unreachable", reason: "the bind was not answered in time" });
    await eventually(
      () => smsc.open.size,
      (size) => size === 0,
    );
  });

  test("a TLS handshake that never completes is unreachable after the connect time-out", async () => {
    const clock = new MovedClock();
    const smsc = await mute();
    const result = bind(options(smsc.port, { clock, tls: {}, connectTimeoutMs: 3000 }));
    await eventually(
      () => smsc.open.size,
      (size) => size === 1,
    );
    clock.advance(3000);
    expect(await result).toEqual({
      kind: "unreachable",
      reason: `${host}:${smsc.port} took no connection within 3000 ms`,
    });
    await eventually(
      () => smsc.open.size,
      (size) => size === 0,
    );
  });

  test.each<[string, Pdu, object]>([
    ["a response", { command: "bind_transceiver_resp", status: 0x0d, systemId: "", tlvs: [] }, { kind: "refused", status: 0x0d }],
    ["a generic_nack", { command: "generic_nack", status: 0x03 }, { kind: "refused", status: 0x03 }],
    ["a generic_nack without a status", { command: "generic_nack", status: 0 }, { kind: "refused", status: 0 }],
  ])("a bind refused with %s closes the connection", async (_how, answer, told) => {
    const smsc = await mute((far) => void far.next().then(({ sequence }) => far.send(answer, sequence)));
    expect(await bind(options(smsc.port))).toEqual(told);
    await eventually(() => smsc.open.size, (size) => size === 0);
  }); // prettier-ignore

  test("an SMSC that hangs up instead of answering is unreachable", async () => {
    const smsc = await mute((far) => void far.next().then(() => far.socket.destroy()));
    expect((await bind(options(smsc.port))).kind).toBe("unreachable");
  });

  test("a message right after the bind response reaches the handler", async () => {
    const seen: string[] = [];
    const answer: Pdu = { command: "bind_transceiver_resp", status: 0, systemId: "smsc", tlvs: [] };
    const notice: Pdu = { command: "alert_notification", source: NO_ADDRESS, esme: NO_ADDRESS, tlvs: [] };
    const smsc = await mute(
      (far) =>
        void far
          .next()
          .then(({ sequence }) => far.socket.write(Buffer.concat([encode(answer, sequence), encode(notice, 1)]))),
    );
    const result = await bind(options(smsc.port, { onRequest: (pdu) => (seen.push(pdu.command), null) }));
    expect([result.kind, seen]).toEqual(["bound", ["alert_notification"]]);
  });

  test("the abort signal of the bind does not end a bound session", async () => {
    const server = await open();
    const calling = new AbortController();
    const result = await bind(options(server.port, { signal: calling.signal }));
    calling.abort();
    expect(result.kind === "bound" && result.session.isOpen).toBe(true);
  });
});
