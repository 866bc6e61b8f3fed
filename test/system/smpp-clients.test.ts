import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect as connectPlain, createServer, type AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect as connectSecurely, type ConnectionOptions } from "node:tls";
import smpp, { type ForeignPdu, type ForeignSession } from "smpp";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { issueCertificates } from "../support/certificates.ts";
import { createLogin, queryText, type Login } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { KANNEL_USER, startKannel, type Kannel } from "../support/kannel.ts";
import type { Captured } from "../support/pcap.ts";
import { startServer } from "../support/server-process.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { tsharkFaults, tsharkFields } from "../support/tshark.ts";

/** Programs of others as clients of the SMPP server. */

const SMPP = { HELIOGRAPH_SMPP_PORT: "0" };
let phones = 15_550_170_000;
const nextPhone = (): string => String((phones += 1));

const afterwards: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of afterwards.splice(0).toReversed()) await cleanUp();
});

/** A client from npm. */
interface Foreign {
  session: ForeignSession;
  receipts: string[];
  bound: ForeignPdu;
}

/** Binds, and acknowledges what it receives. */
async function bindForeign(
  port: number,
  { username, password }: Pick<Login, "username" | "password">,
  as: "bind_transceiver" | "bind_transmitter" | "bind_receiver" = "bind_transceiver",
): Promise<Foreign> {
  const session = smpp.connect({ host: "127.0.0.1", port });
  afterwards.push(() => session.destroy());
  session.on("error", () => {});
  const receipts: string[] = [];
  session.on("deliver_sm", (pdu: ForeignPdu) => {
    receipts.push((pdu["short_message"] as { message: string }).message);
    session.send(pdu.response());
  });
  const bound = await new Promise<ForeignPdu>((resolve) => session[as]({ system_id: username, password }, resolve));
  return { session, receipts, bound };
}

const submit = ({ session }: Foreign, fields: object): Promise<ForeignPdu> =>
  new Promise((resolve, reject) => {
    session.once("close", () => reject(new Error("closed")));
    session.submit_sm(
      { source_addr: "SHOP", source_addr_ton: 5, dest_addr_ton: 1, registered_delivery: 1, ...fields },
      resolve,
    );
  });

/** The same for any other command. */
const send = (
  { session }: Foreign,
  command: "submit_multi" | "data_sm" | "cancel_sm",
  fields: object,
): Promise<ForeignPdu> =>
  new Promise((resolve, reject) => {
    session.once("close", () => reject(new Error("closed")));
    session[command](
      { source_addr: "SHOP", source_addr_ton: 5, dest_addr_ton: 1, registered_delivery: 1, ...fields },
      resolve,
    );
  });

const statsOf = ({ receipts }: Foreign, messageId: unknown): string[] =>
  receipts.flatMap((text) => (text.startsWith(`id:${String(messageId)} `) ? (/stat:(\w+)/.exec(text)?.[1] ?? "") : []));

describe.each(ENGINES)("a real Kannel that binds to the SMPP server on %s", (engine) => {
  let server: TestServer;
  let kannel: Kannel;
  let sink: Sink;

  beforeAll(async () => {
    server = await startTestServer(engine, { env: SMPP });
    const { username, password } = await createLogin(server, "smpp");
    sink = await openSink();
    kannel = await startKannel({
      smsc: { port: server.app.smppPorts.plain ?? 0, systemId: username, password },
      getUrl: `${sink.url}/inbound?from=%p&to=%P&text=%b`,
    });
  });
  afterAll(async () => {
    await kannel?.stop();
    await sink?.close();
    await server?.close();
  });

  const reportsOf = (to: string) =>
    sink.received.filter(({ path }) => path.startsWith(`/${to}?`)).map(({ path }) => path);

  test.each([
    ["an ordinary text", { text: "Hello @ €5 & more = 100%?" }, { text: "Hello @ €5 & more = 100%?", flash: false }],
    ["Unicode", { text: "नमस्ते ✓", coding: "2", charset: "UTF-8" }, { text: "नमस्ते ✓", encoding: "ucs2" }],
    ["a flash message", { text: "Taxi", mclass: "0" }, { text: "Taxi", flash: true }],
    ["a long text, which Kannel splits", { text: "x".repeat(400) }, { text: "x".repeat(400) }],
  ])("%s arrives, and Kannel gets its delivery report", async (_, more, expected) => {
    const to = nextPhone();
    const dlr = { "dlr-mask": "27", "dlr-url": `${sink.url}/${to}?type=%d&to=%p` };
    const query = queryText({ ...KANNEL_USER, from: "ACME", to, ...dlr, ...more });
    expect((await fetch(`${kannel.baseUrl}/cgi-bin/sendsms?${query}`)).status).toBe(202);
    const [message] = await eventually(
      () => server.onPhone(to),
      (messages) => messages.length === 1,
    );
    expect(message).toMatchObject({ sender: "ACME", ...expected });
    await eventually(
      () => reportsOf(to),
      (paths) => paths.some((path) => path.startsWith(`/${to}?type=1&`)),
    );
  });

  test("a message that the phone never gets is reported as failed", async () => {
    const to = "15550109002";
    const dlr = { "dlr-mask": "27", "dlr-url": `${sink.url}/${to}?type=%d&to=%p` };
    await fetch(
      `${kannel.baseUrl}/cgi-bin/sendsms?${queryText({ ...KANNEL_USER, from: "ACME", to, text: "Hello", ...dlr })}`,
    );
    // Kannel may add another bit, such as the one of intermediate reports.
    const typesOf = (paths: readonly string[]): number[] => paths.map((path) => Number(/type=(\d+)/.exec(path)?.[1]));
    const types = await eventually(
      () => typesOf(reportsOf(to)),
      (seen) => seen.some((type) => (type & 2) !== 0),
    );
    expect(types.filter((type) => (type & 1) !== 0)).toEqual([]);
  });

  test("a text from a phone reaches Kannel", async () => {
    const path = "/api/simulator/phones/15550170999/reply";
    expect((await server.request("POST", path, { to: "15550009999", text: "Olé & più" })).status).toBeLessThan(300);
    const inbound = await eventually(
      () => sink.received.find((request) => request.path.startsWith("/inbound?")),
      (request) => request !== undefined,
    );
    const given = new URL(inbound?.path ?? "", sink.url).searchParams;
    expect([given.get("from"), given.get("to"), given.get("text")]).toEqual([
      "+15550170999",
      "+15550009999",
      "Olé & più",
    ]);
  });
});

describe.each(ENGINES)("the npm package smpp as client of the SMPP server on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine, { env: SMPP });
  });
  afterAll(() => server?.close());

  test("submits, queries and gets receipts, and tshark finds no malformed PDU in the session", async () => {
    const capture: Captured[] = [];
    const client = await bindForeign(
      await tapped(capture, server.app.smppPorts.plain ?? 0),
      await createLogin(server, "smpp"),
    );
    expect(client.bound.command_status).toBe(0);
    const to = nextPhone();
    const { command_status: status, message_id: id } = await submit(client, {
      destination_addr: to,
      short_message: "Olé €",
      data_coding: 0,
    });
    expect(status).toBe(0);
    expect((await submit(client, { destination_addr: "12", short_message: "x" })).command_status).toBe(0x0b);
    await eventually(
      () => statsOf(client, id),
      (stats) => stats.includes("DELIVRD"),
    );
    const queried = await new Promise<ForeignPdu>((resolve) => client.session.query_sm({ message_id: id }, resolve));
    expect(queried).toMatchObject({ command_status: 0, message_id: id, message_state: 2 });
    await new Promise((resolve) => client.session.enquire_link({}, resolve));
    await new Promise((resolve) => client.session.unbind({}, resolve));
    expect((await server.onPhone(to))[0]?.text).toBe("Olé €");
    expect(await tsharkFaults(capture)).toEqual([]);
    const ids = (await tsharkFields(capture, ["smpp.command_id"])).flatMap((row) => row["smpp.command_id"] ?? []);
    for (const command of ["0x80000009", "0x80000004", "0x00000005", "0x80000003", "0x80000015", "0x80000006"])
      expect(ids).toContain(command);
  });
});

test("the npm package smpp sends and receives on two binds, to several numbers, in parts, by data_sm, and cancels", async () => {
  const server = await startTestServer("sqlite", { env: SMPP });
  afterwards.push(() => server.close());
  const login = await createLogin(server, "smpp");
  const capture: Captured[] = [];
  const open = async (): Promise<number> => tapped(capture, server.app.smppPorts.plain ?? 0);
  const transmitter = await bindForeign(await open(), login, "bind_transmitter");
  const receiver = await bindForeign(await open(), login, "bind_receiver");
  expect([transmitter.bound.command_status, receiver.bound.command_status]).toEqual([0, 0]);
  const delivered = (id: unknown) =>
    eventually(
      () => statsOf(receiver, id),
      (stats) => stats.includes("DELIVRD"),
    );

  const [one, two] = [nextPhone(), nextPhone()];
  const multi = await send(transmitter, "submit_multi", {
    dest_address: [one, two].map((number) => ({
      dest_flag: 1,
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: number,
    })),
    short_message: "Both",
    data_coding: 0,
  });
  expect(multi.command_status).toBe(0);
  await delivered(multi.message_id);

  const long = nextPhone();
  const parts = await Promise.all(
    [1, 2].map((index) =>
      submit(transmitter, {
        destination_addr: long,
        esm_class: 0x40,
        data_coding: 0,
        short_message: Buffer.concat([Buffer.from([5, 0, 3, 77, 2, index]), Buffer.from(`part ${index} `)]),
      }),
    ),
  );
  for (const { message_id: id } of parts) await delivered(id);
  expect((await server.onPhone(long)).map(({ text }) => text)).toEqual(["part 1 part 2 "]);

  const byData = nextPhone();
  const data = await send(transmitter, "data_sm", {
    destination_addr: byData,
    data_coding: 0,
    message_payload: Buffer.from("As data"),
  });
  expect(data.command_status).toBe(0);
  await delivered(data.message_id);
  expect((await server.onPhone(byData)).map(({ text }) => text)).toEqual(["As data"]);

  const later = nextPhone();
  const scheduled = await submit(transmitter, {
    destination_addr: later,
    short_message: "Later",
    data_coding: 0,
    schedule_delivery_time: "000001000000000R",
  });
  const cancelled = await send(transmitter, "cancel_sm", {
    message_id: scheduled.message_id,
    destination_addr: later,
  });
  expect([scheduled.command_status, cancelled.command_status]).toEqual([0, 0]);
  await eventually(
    () => statsOf(receiver, scheduled.message_id),
    (stats) => stats.includes("DELETED"),
  );
  expect(await tsharkFaults(capture)).toEqual([]);
});

// Debian's package is provided on Linux only.
describe.runIf(process.platform === "linux")("Perl's Net::SMPP as client of the SMPP server", () => {
  test("binds, submits, gets the receipt, queries and unbinds, and tshark finds no malformed PDU", async () => {
    const server = await startTestServer("sqlite", { env: SMPP });
    afterwards.push(() => server.close());
    const capture: Captured[] = [];
    const port = await tapped(capture, server.app.smppPorts.plain ?? 0);
    const { username, password } = await createLogin(server, "smpp");
    const to = nextPhone();
    const script = join(import.meta.dirname, "../support/net-smpp.pl");
    const { stdout } = await promisify(execFile)("perl", [script, String(port), username, password, to]);
    const lines = stdout.trim().split("\n");
    const id = /^submit 0 ([0-9a-f]{32})$/.exec(lines[1] ?? "")?.[1] ?? "none";
    expect(lines).toEqual([
      "bind 0",
      `submit 0 ${id}`,
      expect.stringMatching(new RegExp(`^receipt id:${id} .* stat:DELIVRD `)),
      "query 0 2",
      "unbind 0",
    ]);
    expect((await server.onPhone(to))[0]?.text).toBe("Hello from Perl");
    expect(await tsharkFaults(capture)).toEqual([]);
  });
});

describe("the SMPP server with TLS", () => {
  const [ours, strangers] = [issueCertificates(), issueCertificates()];

  async function start(more: Record<string, string> = {}): Promise<TestServer> {
    const folder = inject("scratchFolder");
    const [cert, key, ca] = ["cert", "key", "ca"].map((name) => join(folder, `smpp-${name}.pem`)) as [
      string,
      string,
      string,
    ];
    await Promise.all([writeFile(cert, ours.cert), writeFile(key, ours.key), writeFile(ca, ours.ca)]);
    const files = { HELIOGRAPH_SMPP_TLS_CERT_FILE: cert, HELIOGRAPH_SMPP_TLS_KEY_FILE: key };
    const clients = "clients" in more ? { HELIOGRAPH_SMPP_TLS_CLIENT_CA_FILE: ca } : {};
    const server = await startTestServer("sqlite", { env: { HELIOGRAPH_SMPP_TLS_PORT: "0", ...files, ...clients } });
    afterwards.push(() => server.close());
    return server;
  }

  /** The answer of the server to an enquire_link before the bind; null if it closes the connection. */
  const answerTo = async (server: TestServer, options: ConnectionOptions): Promise<number | null> => {
    const port = server.app.smppPorts.tls ?? 0;
    const socket = connectSecurely({ host: "127.0.0.1", port, ca: ours.ca, servername: "localhost", ...options });
    afterwards.push(() => socket.destroy());
    socket.on("error", () => {});
    socket.write(Buffer.from("00000010000000150000000000000001", "hex"));
    const answered = once(socket, "data").then(([octets]) => (octets as Buffer).readUInt32BE(4));
    return Promise.race([answered, once(socket, "close").then(() => null)]).catch(() => null);
  };

  test("binds and submits over TLS with no certificate of its own, where none is required", async () => {
    const server = await start();
    const { port } = await secured(server);
    const client = await bindForeign(port, await createLogin(server, "smpp", { requireTls: true }));
    const answer = await submit(client, { destination_addr: nextPhone(), short_message: "Hello" });
    expect(answer.command_status).toBe(0);
  });

  test("the alert about the certificate opens for one that only the SMPP port has", async () => {
    const server = await start();
    const alerts = () => server.request<{ data: { alert: string }[] }>("GET", "/api/alerts");
    const { body } = await eventually(alerts, (answer) => answer.body.data.length > 0);
    expect(body.data.map(({ alert }) => alert)).toContain("certificate_expiry");
  });

  test("a client without a certificate of the named authority is turned away, and one with it is served", async () => {
    const server = await start({ clients: "required" });
    expect(await answerTo(server, {})).toBeNull();
    expect(await answerTo(server, { cert: strangers.cert, key: strangers.key })).toBeNull();
    expect(await answerTo(server, { cert: ours.cert, key: ours.key })).toBe(0x8000_0015);
  });

  /** A plain port that leads to the TLS port: the npm client cannot be given our authority. */
  async function secured(server: TestServer): Promise<{ port: number }> {
    const relay = createServer((near) => {
      const far = connectSecurely({
        host: "127.0.0.1",
        port: server.app.smppPorts.tls ?? 0,
        ca: ours.ca,
        servername: "localhost",
      });
      near.pipe(far).pipe(near);
      for (const end of [near, far]) end.on("error", () => [near, far].forEach((each) => each.destroy()));
    });
    relay.listen(0, "127.0.0.1");
    await once(relay, "listening");
    afterwards.push(() => relay.close());
    return relay.address() as AddressInfo;
  }
});

describe("a server that is killed under submits", () => {
  const KILLS = 3;
  const IN_FLIGHT = 50;

  test("loses no acknowledged message, and each gets its receipt", async () => {
    let server = await startServer({ env: { ...SMPP, HELIOGRAPH_LOG_LEVEL: "info" } });
    afterwards.push(() => server.cleanup());
    const request = async <T>(path: string, body?: object): Promise<T> => {
      const headers = { apikey: server.apiKey, "content-type": "application/json" };
      const response = await fetch(server.baseUrl + path, {
        headers,
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
      return (await response.json()) as T;
    };
    const portOf = (output: string): number => {
      const line = output.split("\n").find((each) => each.includes("smpp listening")) ?? "";
      return Number(/"port":(\d+)/.exec(line)?.[1] ?? /port=(\d+)/.exec(line)?.[1]);
    };
    const login = await request<Login>("/api/credentials", { kind: "smpp", name: "Reseller" });
    const acknowledged: string[] = [];
    const receipts: string[] = [];
    for (let kill = 0; kill <= KILLS; kill += 1) {
      const client = await eventually(
        () => bindForeign(portOf(server.output()), login),
        ({ bound }) => bound.command_status === 0,
      );
      const isLast = kill === KILLS;
      const before = acknowledged.length;
      const sendOne = async (): Promise<void> => {
        const answer = await submit(client, { destination_addr: nextPhone(), short_message: "Hello" }).catch(
          () => null,
        );
        if (answer?.command_status === 0) acknowledged.push(String(answer["message_id"]));
        if (answer && !isLast) await sendOne();
      };
      client.session.setMaxListeners(0);
      const sending = Array.from({ length: isLast ? 1 : IN_FLIGHT }, sendOne);
      if (isLast) {
        await Promise.all(sending);
        await eventually(
          () => new Set([...receipts, ...client.receipts].map((text) => /^id:(\S+) .*stat:DELIVRD/.exec(text)?.[1])),
          (ids) => acknowledged.every((id) => ids.has(id)),
        );
      } else {
        await eventually(
          () => acknowledged.length - before,
          (count) => count > 4 * IN_FLIGHT,
        );
        await server.kill("SIGKILL");
        await Promise.all(sending);
        server = await server.restart();
      }
      receipts.push(...client.receipts);
    }
    expect(acknowledged.length).toBeGreaterThan(KILLS * IN_FLIGHT);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
  });
});

/** A port that leads to another, and notes what goes through. */
async function tapped(capture: Captured[], to: number): Promise<number> {
  const tap = createServer((near) => {
    const far = connectPlain(to, "127.0.0.1");
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
