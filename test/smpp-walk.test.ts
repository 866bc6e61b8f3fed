import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { Smsc } from "../src/smsc/smsc.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type House } from "./support/house.ts";
import { openSink, type Sink } from "./support/sink.ts";

const LONG = "Dear customer, your parcel is on its way. ".repeat(10);

/** From the door over real TCP to a carrier that speaks SMPP, and back. */
describe.each(ENGINES)("a message by SMPP on %s", (engine) => {
  let house: House;
  let smsc: Smsc;
  let taken: string[];
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house.close());
  beforeEach(async () => {
    taken = [];
    smsc = await Smsc.open({
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      whims: { delayMs: 5 },
      onTaken: ({ destination }) => taken.push(destination.address),
    });
    const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "esme", password: "secret", window: 50 };
    await house.ask("POST", "/api/carriers", { name: "line", adapter: "smpp", smpp });
    await house.ask("POST", "/api/routes", {
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
      const { body } = await house.ask<{ data: { id: string; name: string }[] }>("GET", `/api/${path}`);
      for (const { id, name } of body.data)
        if (["by smpp", "line", "reports"].includes(name)) await house.ask("DELETE", `/api/${path}/${id}`);
    }
    await smsc.close();
  });

  /** Changes the line and waits until the one in its place is bound. */
  const change = async (smpp: object): Promise<void> => {
    const { body } = await house.ask<{ data: { id: string; name: string }[] }>("GET", "/api/carriers");
    const id = body.data.find(({ name }) => name === "line")?.id ?? "";
    const { status } = await house.ask("PATCH", `/api/carriers/${id}`, { smpp });
    expect(status).toBe(200);
    await eventually(
      async () => (await house.ask<{ binds: { state: string }[] }>("GET", `/api/carriers/${id}/state`)).body.binds,
      (binds) => binds.some(({ state }) => state === "bound"),
    );
  };

  const send = async (fields: object): Promise<string> => {
    const { body } = await house.send({ sender: "HELIOG", text: "Hello", ...fields });
    expect(body.error).toBeNull();
    return body.data[0]?.messageId ?? "";
  };

  test("goes out, is delivered, and the customer is told so", async () => {
    const sink: Sink = await openSink();
    await house.ask("POST", "/api/dlr-configs", { name: "reports", provider: "line", method: "POST", url: sink.url });
    const id = await send({ to: "15550100100" });
    const [heard] = await sink.until(1);
    expect(heard?.body).toMatchObject({ messageId: id, status: "Delivered", errCode: "000" });
    expect(await house.settled(id)).toMatchObject({ state: "delivered", status: "Delivered" });
    await sink.close();
  });

  test("its report tells whose network the phone is in, as the carrier's receipt does", async () => {
    smsc.behave({ operator: "Airtel", circle: "Punjab" });
    await change({
      receiptTlvs: [
        { tag: "0x1401", type: "cstring", field: "operator" },
        { tag: "0x1402", type: "cstring", field: "circle" },
      ],
    });
    const sink: Sink = await openSink();
    const headers = ["messageId", "operatorCircle"].map((name) => ({ key: `X-${name}`, value: `{{${name}}}` }));
    const reports = { name: "reports", provider: "line", method: "POST", url: sink.url, headers };
    await house.ask("POST", "/api/dlr-configs", reports);
    const id = await send({ to: "15550100110" });
    const [heard] = await sink.until(1);
    expect(heard?.body).toMatchObject({ messageId: id, operatorCircle: "Airtel, Punjab" });
    await sink.close();
  });

  test("is known as taken and delivered when the answer comes after its time, and is not sent twice", async () => {
    smsc.behave({ answerAfterMs: 4000 });
    await change({ responseSeconds: 1 });
    const id = await send({ to: "15550100111", type: "PROMO" });
    expect(await house.settled(id)).toMatchObject({ state: "delivered" });
    expect(taken).toEqual(["15550100111"]);
    const { body } = await house.ask<{ timeline: { what: string }[] }>("GET", `/api/messages/${id}`);
    expect(JSON.stringify(body)).toContain("says late that it took it as");
  });

  test("a long one is delivered when all of its parts are", async () => {
    const id = await send({ to: "15550100101", text: LONG });
    expect(await house.settled(id)).toMatchObject({ state: "delivered", segments: 3 });
    expect(taken.filter((to) => to === "15550100101")).toHaveLength(3);
  });

  test("a long one fails when any of its parts does", async () => {
    const id = await send({ to: "15550109001", text: LONG });
    expect(await house.settled(id)).toMatchObject({ state: "undelivered", errCode: "001" });
  });

  test.each([
    ["15550109001", "undelivered"],
    ["15550109002", "expired"],
    ["15550109003", "rejected"],
    ["15550109006", "delivered"],
    ["15550109007", "delivered"],
    ["15550109008", "delivered"],
  ])("to %s it comes to be %s", async (to, state) => {
    expect(await house.settled(await send({ to }))).toMatchObject({ state });
  });

  test("receipts that spell ids otherwise are matched, and the spelling is learned", async () => {
    smsc.behave({ idForm: "hex", receiptIdForm: "padded" });
    for (const to of ["15550100102", "15550100103", "15550100104"])
      expect(await house.settled(await send({ to }))).toMatchObject({ state: "delivered" });
    const { body } = await house.ask<{ data: { id: string; name: string }[] }>("GET", "/api/carriers");
    const id = body.data.find(({ name }) => name === "line")?.id ?? "";
    const state = await house.ask<{ learnedIdForm: string | null }>("GET", `/api/carriers/${id}/state`);
    expect(JSON.stringify(state.body)).toContain("hex");
    // The next line begins with it, and so does the next start.
    const learned = await eventually(
      async () => (await house.app.store.listIdForms()).find(({ carrierId }) => carrierId === id),
      (found) => found !== undefined,
    );
    await change({ window: 20 });
    const after = await house.ask<{ learnedIdForm: string | null }>("GET", `/api/carriers/${id}/state`);
    expect(JSON.stringify(after.body)).toContain(`"learnedIdForm":"${learned?.form}"`);
  });

  test("a text that its carrier repeats is received once, where its phone counts what it sends", async () => {
    for (const [words, count] of [
      ["Yes", 41],
      ["Yes", 41],
      ["Yes", 42],
      ["No", 42],
    ] as const) {
      const before = smsc.counts.delivered;
      smsc.text("15550100106", "HELIOG", words, count);
      await eventually(
        () => smsc.counts.delivered,
        (delivered) => delivered > before,
      );
    }
    const { body } = await house.ask<{ data: { text: string }[] }>("GET", "/v1/inbound?from=15550100106");
    expect(body.data).toHaveLength(3);
  });

  test("a phone that says STOP gets no promotions any more", async () => {
    smsc.text("15550100105", "HELIOG", "STOP");
    await eventually(
      async () => (await house.ask<{ data: { number: string }[] }>("GET", "/api/optouts")).body.data,
      (listed) => listed.some(({ number }) => number.endsWith("15550100105")),
    );
    const { body } = await house.send({ sender: "HELIOG", text: "Sale", to: "15550100105", type: "PROMO" });
    expect(body.error?.code).toBe("RECIPIENT_OPTED_OUT");
  });

  test("a changed record takes effect without a restart, and what is under way is answered", async () => {
    smsc.behave({ answerAfterMs: 100 });
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => send({ to: `155501002${10 + n}` })));
    const { body } = await house.ask<{ data: { id: string; name: string }[] }>("GET", "/api/carriers");
    const id = body.data.find(({ name }) => name === "line")?.id ?? "";
    await house.ask("PATCH", `/api/carriers/${id}`, { smpp: { window: 20 } });
    for (const each of ids) expect(await house.settled(each)).toMatchObject({ state: "delivered" });
    expect(new Set(taken).size).toBe(taken.length);
  });

  test("a template or sender that nobody has stored is not learned on the way to real phones", async () => {
    const { status, body } = await house.send({
      sender: "HELIOG",
      templateId: "nobody's",
      custom: [],
      to: "15550100100",
    });
    expect([status, body.error?.code]).toEqual([404, "TEMPLATE_NOT_FOUND"]);
  });
});

test("a server that stops unbinds, though the carrier has not answered everything", async () => {
  const house = await openHouse("sqlite");
  const smsc = await Smsc.open({
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
    whims: { silentPercent: 100 },
  });
  const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "esme", password: "secret", responseSeconds: 300 };
  await house.ask("POST", "/api/carriers", { name: "line", adapter: "smpp", smpp });
  await house.ask("POST", "/api/routes", { name: "by smpp", channel: "sms", carrier: "line", priority: 1 });
  await eventually(
    () => smsc.sessions,
    (sessions) => sessions === 1,
  );
  await house.send({ sender: "HELIOG", text: "Hello", to: "15550100100" });
  await eventually(
    () => smsc.counts.submits,
    (submits) => submits === 1,
  );
  await house.close();
  const sessions = await eventually(
    () => smsc.sessions,
    (open) => open === 0,
  );
  expect(sessions).toBe(0);
  await smsc.close();
});
