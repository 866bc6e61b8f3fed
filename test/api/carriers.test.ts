import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ID_FORMS } from "../../src/carriers/smpp/message-id.ts";
import { DEFAULT_ADDRESSES } from "../../src/carriers/smpp/addresses.ts";
import { DEFAULT_PRIORITIES } from "../../src/carriers/smpp/validity.ts";
import { SMPP_DEFAULTS, SMPP_ID_FORMS } from "../../src/model/smpp-connection.ts";
import { deliverSm, type SubmitSm } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { listen, type SmppServer } from "../../src/smpp/server.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { issueCertificates } from "../support/certificates.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Answer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface Body {
  id: string;
  name: string;
  adapter: string;
  smpp: Record<string, unknown> | null;
  error: ErrorBody;
}

interface StateBody {
  up: boolean;
  binds: { as: string; state: string; reason: string | null; inFlight: number }[];
  learnedIdForm: string | null;
}

const PASSWORD = "correct-horse";
const CA = issueCertificates().ca;
const LINE = { host: "127.0.0.1", port: 9, systemId: "shop", password: PASSWORD };

test("the defaults of a connection are the usual values of SMPP, and its id formats are all that exist", () => {
  expect(SMPP_DEFAULTS.addresses).toEqual(DEFAULT_ADDRESSES);
  expect(SMPP_DEFAULTS.priorities).toEqual(DEFAULT_PRIORITIES);
  expect(SMPP_ID_FORMS).toEqual(["auto", "exact", ...ID_FORMS.filter((form) => form !== "as given")]);
});

/** An SMSC that gives ids in hex, reports them in decimal, and can refuse chosen recipients. */
async function openSmsc(): Promise<{
  server: SmppServer;
  taken: SubmitSm[];
  lastId(): number;
  report(id: number, to: string): void;
}> {
  const taken: SubmitSm[] = [];
  let ids = 0xa0;
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    systemId: "SMSC",
    onBind: (bind) =>
      bind.password === PASSWORD
        ? {
            kind: "accepted",
            onRequest: (pdu) => {
              if (pdu.command !== "submit_sm") return null;
              taken.push(pdu);
              ids += 1;
              return responseTo(pdu, { messageId: ids.toString(16) });
            },
          }
        : { kind: "refused", status: STATUS.ESME_RINVPASWD },
  });
  return {
    server,
    taken,
    lastId: () => ids,
    report: (id, to) => {
      const [session] = server.sessions;
      const text = `id:${String(id).padStart(10, "0")} sub:001 dlvrd:001 stat:DELIVRD err:000 text:`;
      void session?.request(
        deliverSm({
          source: { ton: 1, npi: 1, address: to },
          destination: { ton: 5, npi: 0, address: "HELIOG" },
          esmClass: 0x04,
          shortMessage: Buffer.from(text, "latin1"),
        }),
      );
    },
  };
}

describe.each(ENGINES)("carriers over SMPP on %s", (engine) => {
  let tenants: Tenants;
  let testServer: TestServer;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    testServer = tenants.server;
  });
  afterAll(() => tenants.close());

  let count = 0;
  const make = (smpp: object = {}, more: object = {}): Promise<Answer<Body>> => {
    count += 1;
    return testServer.request("POST", "/api/carriers", {
      name: `line-${count}`,
      adapter: "smpp",
      smpp: { ...LINE, ...smpp },
      ...more,
    });
  };
  const stateOf = async (id: string): Promise<StateBody> =>
    (await testServer.request<StateBody>("GET", `/api/carriers/${id}/state`)).body;

  test("an SMPP connection has the usual settings by default", async () => {
    const { status, body } = await make();
    const { password: _, ...given } = LINE;
    expect(status).toBe(201);
    expect(body.smpp).toEqual({ ...SMPP_DEFAULTS, ...given });
  });

  test("a change keeps the fields that it does not name", async () => {
    const tlvs = [{ tag: "0x1400", type: "octets", source: "template.dltEntityId" }];
    const { body: made } = await make({ window: 50, tlvs, addresses: { shortCode: { ton: 6, npi: 0 } } });
    const change = {
      addresses: { plus: true },
      tls: { servername: "smsc.example" },
      statusPolicy: { "0x45": "retry" },
    };
    const { body } = await testServer.request<Body>("PATCH", `/api/carriers/${made.id}`, { smpp: change });
    expect(body.smpp).toMatchObject({
      window: 50,
      tlvs: [{ tag: 0x1400, type: "octets", source: "template.dltEntityId" }],
      addresses: { ...SMPP_DEFAULTS.addresses, shortCode: { ton: 6, npi: 0 }, plus: true },
      tls: { ca: null, servername: "smsc.example", cert: null },
      statusPolicy: { "0x45": "retry" },
    });
    const cleared = await testServer.request<Body>("PATCH", `/api/carriers/${made.id}`, {
      smpp: { tls: null, password: PASSWORD },
    });
    expect(cleared.body.smpp).toMatchObject({ tls: null, window: 50 });
  });

  test("a password is shown nowhere, and encrypted in the store", async () => {
    const { body: made } = await make({ tlsKey: "a private key" });
    const answers = [
      made,
      (await testServer.request("GET", `/api/carriers/${made.id}`)).body,
      (await testServer.request("GET", "/api/carriers?limit=200")).body,
      (await testServer.request("GET", "/api/config")).body,
      (await testServer.request("PATCH", `/api/carriers/${made.id}`, { messagesPerSecond: 5 })).body,
      await stateOf(made.id),
    ];
    const stored = await tenants.execute("select * from catalog");
    for (const each of [...answers, stored]) {
      expect(JSON.stringify(each)).not.toContain(PASSWORD);
      expect(JSON.stringify(each)).not.toContain("a private key");
    }
    for (const each of answers) expect(JSON.stringify(each)).not.toContain("sealed");
    expect(JSON.stringify(await testServer.request("DELETE", `/api/carriers/${made.id}`))).not.toContain(PASSWORD);
  });

  test.each([
    [{ host: "" }, "smpp.host"],
    [{ host: "smpp://carrier.example" }, "smpp.host"],
    [{ systemId: "" }, "smpp.systemId"],
    [{ systemId: "sixteen letters!" }, "smpp.systemId"],
    [{ systemId: "日本" }, "smpp.systemId"],
    [{ password: "日本" }, "smpp.password"],
    [{ port: 0 }, "smpp.port"],
    [{ connections: 0 }, "smpp.connections"],
    [{ zone: "Mars/Olympus" }, "smpp.zone"],
    [{ alphabet: "ebcdic" }, "smpp.alphabet"],
    [{ idForm: "guessed" }, "smpp.idForm"],
    [{ tls: { ca: "no certificate" } }, "smpp.tls.ca"],
    [{ statusPolicy: { much: "retry" } }, "smpp.statusPolicy"],
    [{ tlvs: [{ tag: "0x14000", type: "octets", source: "chainHash" }] }, "smpp.tlvs[0].tag"],
    [{ tlvs: [{ tag: 1, type: "octets", source: "chainHash" }] }, "smpp.tlvs[0].source"],
    [{ tlvs: [{ tag: 1, type: "uint8", source: { literal: "256" } }] }, "smpp.tlvs[0].source"],
    [{ senders: [""] }, "smpp.senders[0]"],
    [{ pasword: "typo" }, "smpp.pasword"],
  ])("an SMPP connection with %j is refused by field", async (smpp, parameter) => {
    const { status, body } = await make(smpp);
    expect([status, body.error?.parameter]).toEqual([400, parameter]);
  });

  test("a password is needed once, and not again in a change", async () => {
    const without = await make({ password: undefined });
    expect([without.status, without.body.error.parameter]).toEqual([400, "smpp.password"]);
    const { body: made } = await make({ password: "" });
    expect((await testServer.request("PATCH", `/api/carriers/${made.id}`, { smpp: { window: 7 } })).status).toBe(200);
  });

  test.each([
    { host: "mine.example" },
    { port: 10 },
    { tls: null },
    { tls: { servername: "mine.example" } },
    { tls: { ca: null } },
  ])("a stored password is not sent elsewhere: %o needs it again", async (smpp) => {
    const { body: line } = await make({ tls: { servername: "smpp.carrier.example", ca: CA } });
    const { id } = line;
    for (const [method, path] of [
      ["PATCH", `/api/carriers/${id}`],
      ["POST", `/api/carriers/${id}/test`],
    ] as const) {
      const { status, body } = await testServer.request<Body>(method, path, { smpp });
      expect([status, body.error?.parameter]).toEqual([400, "smpp.password"]);
      expect(body.error.details[0]?.message).toContain("password is required again");
    }
    const given = { smpp: { ...smpp, password: "another" } };
    expect((await testServer.request("PATCH", `/api/carriers/${id}`, given)).status).toBe(200);
    await testServer.request("DELETE", `/api/carriers/${id}`);
  });

  test("a change that keeps the peer needs no password", async () => {
    const { body: line } = await make();
    const { host, port } = LINE;
    for (const smpp of [{ host, port, tls: null }, { systemType: "x" }, { tls: {} }])
      expect((await testServer.request("PATCH", `/api/carriers/${line.id}`, { smpp })).status).toBe(200);
    await testServer.request("DELETE", `/api/carriers/${line.id}`);
  });

  test("an SMPP connection cannot become a simulated one, nor the reverse", async () => {
    const chaotic = await make({}, { chaos: { down: true } });
    expect([chaotic.status, chaotic.body.error.parameter]).toEqual([400, "chaos"]);
    const simulated = await make({}, { adapter: "simulator" });
    expect([simulated.status, simulated.body.error.parameter]).toEqual([400, "smpp"]);
  });

  test("a carrier accepts no route of another channel, and cannot change its channel while a route leads to it", async () => {
    const { body: line } = await make();
    for (const channel of [null, "rcs", undefined]) {
      const route = { name: `wrong ${channel}`, carrier: line.name, ...(channel === undefined ? {} : { channel }) };
      const { status, body } = await testServer.request<Body>("POST", "/api/routes", route);
      expect([status, body.error.parameter]).toEqual([400, "channel"]);
      expect(body.error.details[0]?.message).toContain("sms only");
    }
    const made = await testServer.request<Body>("POST", "/api/routes", {
      name: `right ${line.name}`,
      carrier: line.name,
      channel: "sms",
      enabled: false,
    });
    expect(made.status).toBe(201);
    const widened = await testServer.request<Body>("PATCH", `/api/routes/${made.body.id}`, { channel: null });
    expect([widened.status, widened.body.error.parameter]).toEqual([400, "channel"]);

    const simulated = await testServer.request<Body>("POST", "/api/carriers", { name: `sim-${count}` });
    await testServer.request("POST", "/api/routes", {
      name: `to ${simulated.body.name}`,
      carrier: simulated.body.name,
      enabled: false,
    });
    const turned = await testServer.request<Body>("PATCH", `/api/carriers/${simulated.body.id}`, {
      adapter: "smpp",
      smpp: LINE,
    });
    expect([turned.status, turned.body.error.parameter]).toEqual([400, "adapter"]);
  });

  describe("an SMPP connection in a configuration file", () => {
    interface PlanBody {
      made: { name: string }[];
      changed: { name: string; fields: object[] }[];
      same: { name: string }[];
      error?: ErrorBody;
    }
    type SetUp = { carriers: { name: string; smpp: object }[] };
    const apply = async (carriers: object[]): Promise<PlanBody> =>
      (await testServer.request<PlanBody>("PUT", "/api/config", { carriers })).body;
    const exported = async (): Promise<SetUp["carriers"]> =>
      (await testServer.request<SetUp>("GET", "/api/config")).body.carriers;

    test("a configuration file has no password, and applying an exported one changes nothing", async () => {
      await make();
      const before = await exported();
      const plan = await apply(before);
      expect([plan.made, plan.changed]).toEqual([[], []]);
      expect(plan.same).toHaveLength(before.length);
      expect(await exported()).toEqual(before);
    });

    test("a configuration file with a new password reports a change without showing it, and none the second time", async () => {
      const { body: line } = await make();
      const others = (await exported()).filter(({ name }) => name !== line.name);
      const own = (await exported()).filter(({ name }) => name === line.name);
      const withPassword = [
        ...others,
        ...own.map((each) => ({ ...each, smpp: { ...each.smpp, password: "another" } })),
      ];
      const plan = await apply(withPassword);
      expect(plan.changed).toEqual([
        { part: "carriers", name: line.name, fields: [{ field: "secrets", from: "***", to: "***" }] },
      ]);
      expect((await apply(withPassword)).changed).toEqual([]);
    });

    test("a configuration file needs the password if the peer changes", async () => {
      const { body: line } = await make();
      const carriers = (await exported()).map((each) =>
        each.name === line.name ? { ...each, smpp: { ...each.smpp, host: "mine.example" } } : each,
      );
      const { error } = await apply(carriers);
      expect(error?.parameter).toMatch(/^carriers\[\d+\]\.smpp\.password$/);
    });

    test("a configuration file needs the password of a new connection", async () => {
      const { password: _, ...bare } = LINE;
      const carriers = [...(await exported()), { name: "brand-new", adapter: "smpp", smpp: bare }];
      const { error } = await apply(carriers);
      expect(error?.parameter).toBe(`carriers[${carriers.length - 1}].smpp.password`);
    });
  });

  describe("with an SMSC", () => {
    let smsc: Awaited<ReturnType<typeof openSmsc>>;
    beforeAll(async () => {
      smsc = await openSmsc();
    });
    afterAll(() => smsc.server.close());
    const there = () => ({ port: smsc.server.port });

    test("a connection test reports what happened, with stored or given settings", async () => {
      const { body: line } = await make(there());
      const tried = (body?: object) => testServer.request("POST", `/api/carriers/${line.id}/test`, body);
      expect((await tried()).body).toMatchObject({ outcome: "bound", code: null, systemId: "SMSC" });
      expect((await tried({ smpp: { password: "wrong" } })).body).toMatchObject({
        outcome: "refused",
        code: "0x0000000E",
        description: "The carrier does not take this password",
      });
      expect((await tried({ smpp: { port: 9, password: PASSWORD } })).body).toMatchObject({
        outcome: "unreachable",
        description: expect.stringContaining("ECONNREFUSED"),
      });
      const wrong = await testServer.request<Body>("POST", `/api/carriers/${line.id}/test`, { smpp: { port: 0 } });
      expect([wrong.status, wrong.body.error.parameter]).toEqual([400, "smpp.port"]);
      expect((await tried()).body, "and nothing of it was stored").toMatchObject({ outcome: "bound" });
      await testServer.request("DELETE", `/api/carriers/${line.id}`);
    });

    test("a test message goes directly to the carrier, and the response is the carrier's own", async () => {
      const { body: line } = await make(there());
      const message = { sender: "TRIED", to: "15550100100", text: "Can you read this?", type: "TRANS" };
      const tried = (body: object) => testServer.request<Body>("POST", `/api/carriers/${line.id}/send`, body);
      await eventually(
        () => stateOf(line.id),
        ({ up }) => up,
      );
      const taken = await tried(message);
      expect(taken.body).toMatchObject({
        outcome: "taken",
        carrierMessageId: expect.stringMatching(/./),
        exchange: expect.not.stringContaining("15550100100"),
      });
      const many = await tried({ ...message, to: ["15550100100", "15550100101"] });
      expect([many.status, many.body.error.code]).toEqual([400, "INVALID_REQUEST"]);
      expect((await tried({ ...message, text: "" })).body.error.parameter).toBe("text");
      expect(
        (await testServer.request<{ data: unknown[] }>("GET", "/api/messages?sender=TRIED")).body.data ?? [],
      ).toEqual([]);
      await testServer.request("DELETE", `/api/carriers/${line.id}`);
    });

    test("a simulated connection has nothing to test, and is up", async () => {
      const { body } = await testServer.request<Body>("POST", "/api/carriers", { name: `simulated-${count}` });
      const tried = await testServer.request<Body>("POST", `/api/carriers/${body.id}/test`, {});
      expect([tried.status, tried.body.error.code]).toEqual([400, "INVALID_REQUEST"]);
      expect(await stateOf(body.id)).toMatchObject({ adapter: "simulator", up: true, binds: [] });
    });

    test("a connection shows its binds, follows its record, and ends with it", async () => {
      const { body: line } = await make({ ...there(), password: "wrong", connections: 2 });
      const refused = await eventually(
        () => stateOf(line.id),
        ({ binds }) => binds.length === 2 && binds.every(({ state }) => state === "refused"),
      );
      expect(refused).toMatchObject({ adapter: "smpp", up: false, nodes: 1 });
      expect(refused.binds[0]?.reason).toContain("password");
      await testServer.request("PATCH", `/api/carriers/${line.id}`, { smpp: { password: PASSWORD } });
      const bound = await eventually(
        () => stateOf(line.id),
        ({ binds }) => binds.length === 2 && binds.every(({ state }) => state === "bound"),
      );
      expect(bound.up).toBe(true);
      expect(smsc.server.sessions.size).toBe(2);
      await testServer.request("DELETE", `/api/carriers/${line.id}`);
      await eventually(
        () => smsc.server.sessions.size,
        (size) => size === 0,
      );
    });

    test("a long message is delivered when all receipts of its parts have come, in another id format", async () => {
      const { body: line } = await make(there());
      const route = { name: `by ${line.name}`, carrier: line.name, channel: "sms", prefixes: ["35988"], priority: 1 };
      const { body: made } = await testServer.request<Body>("POST", "/api/routes", route);
      await eventually(
        () => stateOf(line.id),
        ({ up }) => up,
      );
      await testServer.request("POST", "/api/senders", { name: "PARTS" });
      const to = "359888123456";
      const sent = await testServer.send({ sender: "PARTS", to, text: "x".repeat(400) });
      const messageId = sent.body.data[0]?.messageId ?? "";
      const taken = await eventually(
        () => smsc.taken.filter(({ destination }) => destination.address === to),
        (parts) => parts.length === 3,
      );
      expect(taken).toHaveLength(3);
      const first = smsc.lastId() - 2;
      await eventually(
        () => testServer.message(messageId),
        ({ state }) => state === "submitted",
      );
      smsc.report(first + 1, to);
      await eventually(
        () => testServer.message(messageId),
        ({ statusDescription }) => statusDescription === "1 of 3 parts delivered",
      );
      smsc.report(first, to);
      smsc.report(first + 2, to);
      expect(await testServer.settled(messageId)).toMatchObject({ status: "Delivered" });
      expect((await stateOf(line.id)).learnedIdForm).toBe("from decimal to hex, in lower case");
      await testServer.request("DELETE", `/api/routes/${made.id}`);
      await testServer.request("DELETE", `/api/carriers/${line.id}`);
    });
  });
});

describe.runIf(hasPostgres)("a connection that two nodes share", () => {
  test("the binds of a connection are divided between two nodes, and move to the one that is left", async () => {
    const smsc = await openSmsc();
    const env = { HELIOGRAPH_MASTER_KEY: "a master key that both have", HELIOGRAPH_NODE_SILENT_SECONDS: "3" };
    const one = await startTestServer("postgres", { env });
    const shared = { ...env, HELIOGRAPH_DATABASE_URL: one.env["HELIOGRAPH_DATABASE_URL"] ?? "" };
    const two = await startTestServer("sqlite", { env: shared });
    const smpp = { ...LINE, port: smsc.server.port, connections: 3 };
    const { body: line } = await one.request<Body>("POST", "/api/carriers", { name: "north", adapter: "smpp", smpp });
    const bindsOf = async (testServer: TestServer): Promise<number> => {
      const path = `/api/carriers/${line.id}/state`;
      const { status, body } = await testServer.request<StateBody>("GET", path, undefined, { apikey: one.key });
      return status === 200 ? body.binds.filter(({ state }) => state === "bound").length : 0;
    };
    await eventually(
      async () => [await bindsOf(one), await bindsOf(two)],
      ([first, second]) => first === 2 && second === 1,
    );
    expect(smsc.server.sessions.size).toBe(3);
    await two.close();
    await eventually(
      () => bindsOf(one),
      (binds) => binds === 3,
    );
    await one.close();
    await smsc.server.close();
  });
});
