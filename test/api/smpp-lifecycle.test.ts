import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { openSink, type Sink } from "../support/sink.ts";

const LONG = "Dear customer, your parcel is on its way. ".repeat(10);

/** End to end: from the API over TCP to an SMPP carrier and back. */
describe.each(ENGINES)("a message over SMPP on %s", (engine) => {
  let server: TestServer;
  let smsc: Smsc;
  let taken: string[];
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    taken = [];
    smsc = await Smsc.open({
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      behavior: { delayMs: 5 },
      onTaken: ({ destination }) => taken.push(destination.address),
    });
    const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "esme", password: "secret", window: 50 };
    await server.request("POST", "/api/carriers", { name: "line", adapter: "smpp", smpp });
    await server.request("POST", "/api/routes", {
      name: "by smpp",
      channel: "sms",
      carrier: "line",
      priority: 1,
    });
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 1,
    );
  });
  afterEach(async () => {
    for (const path of ["dlr-configs", "routes", "carriers"]) {
      const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", `/api/${path}`);
      for (const { id, name } of body.data)
        if (["by smpp", "line", "reports"].includes(name)) await server.request("DELETE", `/api/${path}/${id}`);
    }
    await smsc.close();
  });

  /** Changes the connection and waits until its replacement is bound. */
  const change = async (smpp: object): Promise<void> => {
    const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/carriers");
    const id = body.data.find(({ name }) => name === "line")?.id ?? "";
    const { status } = await server.request("PATCH", `/api/carriers/${id}`, { smpp });
    expect(status).toBe(200);
    await eventually(
      async () => (await server.request<{ binds: { state: string }[] }>("GET", `/api/carriers/${id}/state`)).body.binds,
      (binds) => binds.some(({ state }) => state === "bound"),
    );
  };

  const send = async (fields: object): Promise<string> => {
    const { body } = await server.send({ sender: "HELIOG", text: "Hello", ...fields });
    expect(body.error).toBeNull();
    return body.data[0]?.messageId ?? "";
  };

  test("an SMPP message is submitted and delivered, and the customer's webhook is called", async () => {
    const sink: Sink = await openSink();
    await server.request("POST", "/api/dlr-configs", {
      name: "reports",
      provider: "line",
      method: "POST",
      url: sink.url,
    });
    const id = await send({ to: "15550100100" });
    const [heard] = await sink.until(1);
    expect(heard?.body).toMatchObject({ messageId: id, status: "Delivered", errCode: "000" });
    expect(await server.settled(id)).toMatchObject({ state: "delivered", status: "Delivered" });
    await sink.close();
  });

  test("an SMPP message's report contains the phone's network from the receipt", async () => {
    smsc.setBehavior({ operator: "Airtel", circle: "Punjab" });
    await change({
      receiptTlvs: [
        { tag: "0x1401", type: "cstring", field: "operator" },
        { tag: "0x1402", type: "cstring", field: "circle" },
      ],
    });
    const sink: Sink = await openSink();
    const headers = ["messageId", "operatorCircle"].map((name) => ({ key: `X-${name}`, value: `{{${name}}}` }));
    const reports = { name: "reports", provider: "line", method: "POST", url: sink.url, headers };
    await server.request("POST", "/api/dlr-configs", reports);
    const id = await send({ to: "15550100110" });
    const [heard] = await sink.until(1);
    expect(heard?.body).toMatchObject({ messageId: id, operatorCircle: "Airtel, Punjab" });
    await sink.close();
  });

  test("after a late submit response it is submitted and delivered, and not sent twice", async () => {
    smsc.setBehavior({ answerAfterMs: 4000 });
    await change({ responseSeconds: 1 });
    const id = await send({ to: "15550100111", type: "PROMO" });
    expect(await server.settled(id)).toMatchObject({ state: "delivered" });
    expect(taken).toEqual(["15550100111"]);
    const { body } = await server.request<{ timeline: { what: string }[] }>("GET", `/api/messages/${id}`);
    expect(JSON.stringify(body)).toContain("says late that it took it as");
  });

  test("a long message is delivered when all parts are", async () => {
    const id = await send({ to: "15550100101", text: LONG });
    expect(await server.settled(id)).toMatchObject({ state: "delivered", segments: 3 });
    expect(taken.filter((to) => to === "15550100101")).toHaveLength(3);
  });

  test("a long message fails when any part does", async () => {
    const id = await send({ to: "15550109001", text: LONG });
    expect(await server.settled(id)).toMatchObject({ state: "undelivered", errCode: "001" });
  });

  test.each([
    ["15550109001", "undelivered"],
    ["15550109002", "expired"],
    ["15550109003", "rejected"],
    ["15550109006", "delivered"],
    ["15550109007", "delivered"],
    ["15550109008", "delivered"],
  ])("to %s it becomes %s", async (to, state) => {
    expect(await server.settled(await send({ to }))).toMatchObject({ state });
  });

  test("receipts with another id format are matched, and the format is learned", async () => {
    smsc.setBehavior({ idForm: "hex", receiptIdForm: "padded" });
    for (const to of ["15550100102", "15550100103", "15550100104"])
      expect(await server.settled(await send({ to }))).toMatchObject({ state: "delivered" });
    const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/carriers");
    const id = body.data.find(({ name }) => name === "line")?.id ?? "";
    const state = await server.request<{ learnedIdForm: string | null }>("GET", `/api/carriers/${id}/state`);
    expect(JSON.stringify(state.body)).toContain("hex");
    // The next connection starts with it, and so does the next process.
    const learned = await eventually(
      async () => (await server.app.store.listIdForms()).find(({ carrierId }) => carrierId === id),
      (found) => found !== undefined,
    );
    await change({ window: 20 });
    const after = await server.request<{ learnedIdForm: string | null }>("GET", `/api/carriers/${id}/state`);
    expect(JSON.stringify(after.body)).toContain(`"learnedIdForm":"${learned?.form}"`);
  });

  test("a repeated inbound message is received once, if the phone numbers its messages", async () => {
    for (const [words, count] of [
      ["Yes", 41],
      ["Yes", 41],
      ["Yes", 42],
      ["No", 42],
    ] as const) {
      const before = smsc.counts.delivered;
      smsc.sendFromPhone("15550100106", "HELIOG", words, count);
      await eventually(
        () => smsc.counts.delivered,
        (delivered) => delivered > before,
      );
    }
    const { body } = await server.request<{ data: { text: string }[] }>("GET", "/v1/inbound?from=15550100106");
    expect(body.data).toHaveLength(3);
  });

  test("STOP from a phone ends promotions to it", async () => {
    smsc.sendFromPhone("15550100105", "HELIOG", "STOP");
    await eventually(
      async () => (await server.request<{ data: { number: string }[] }>("GET", "/api/optouts")).body.data,
      (listed) => listed.some(({ number }) => number.endsWith("15550100105")),
    );
    const { body } = await server.send({ sender: "HELIOG", text: "Sale", to: "15550100105", type: "PROMO" });
    expect(body.error?.code).toBe("RECIPIENT_OPTED_OUT");
  });

  test("a changed record applies without a restart, and messages in flight are answered", async () => {
    smsc.setBehavior({ answerAfterMs: 100 });
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send({ to: `155501002${10 + n}` })));
    const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/carriers");
    const id = body.data.find(({ name }) => name === "line")?.id ?? "";
    await server.request("PATCH", `/api/carriers/${id}`, { smpp: { window: 20 } });
    for (const each of ids) expect(await server.settled(each)).toMatchObject({ state: "delivered" });
    expect(new Set(taken).size).toBe(taken.length);
  });

  test("unknown templates and senders are not learned by real carriers", async () => {
    const { status, body } = await server.send({
      sender: "HELIOG",
      templateId: "nobody's",
      custom: [],
      to: "15550100100",
    });
    expect([status, body.error?.code]).toEqual([404, "TEMPLATE_NOT_FOUND"]);
  });
});

test("a stopping server unbinds, even if the carrier has not answered everything", async () => {
  const server = await startTestServer("sqlite");
  const smsc = await Smsc.open({
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
    behavior: { silentPercent: 100 },
  });
  const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "esme", password: "secret", responseSeconds: 300 };
  await server.request("POST", "/api/carriers", { name: "line", adapter: "smpp", smpp });
  await server.request("POST", "/api/routes", { name: "by smpp", channel: "sms", carrier: "line", priority: 1 });
  await eventually(
    () => smsc.sessions,
    (sessions) => sessions === 1,
  );
  await server.send({ sender: "HELIOG", text: "Hello", to: "15550100100" });
  await eventually(
    () => smsc.counts.submits,
    (submits) => submits === 1,
  );
  await server.close();
  const sessions = await eventually(
    () => smsc.sessions,
    (open) => open === 0,
  );
  expect(sessions).toBe(0);
  await smsc.close();
});
