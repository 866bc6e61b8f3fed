import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const ALL = { receivedBefore: 9_000_000_000_000 };

interface Phone {
  number: string;
  name: string | null;
  messageCount: number;
  lastMessageAt: number | null;
}

describe.each(ENGINES)("clearing the simulated phones on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const phones = async (): Promise<Phone[]> =>
    (await server.request<{ data: Phone[] }>("GET", "/api/simulator/phones?limit=200")).body.data;
  const clear = async (): Promise<unknown> => (await server.request("POST", "/api/simulator/phones/clear", ALL)).body;
  const sendTo = async (...to: string[]): Promise<string[]> => {
    const { body } = await server.send({ to });
    const ids = body.data.map(({ messageId }) => messageId);
    for (const id of ids) await server.settled(id);
    // The simulator notes that a report was sent after the message has its state.
    await eventually(
      () => server.app.store.listUnreported(Number.MAX_SAFE_INTEGER, 10),
      ({ length }) => length === 0,
    );
    return ids;
  };

  test("deletes messages and phones, and keeps the sample phones and the record of each message", async () => {
    const samples = await phones();
    const [sample] = samples;
    expect(sample?.name).not.toBeNull();
    const ids = await sendTo("15550860001", "15550860002", sample?.number ?? "");
    expect(ids).toHaveLength(3);
    expect((await phones()).length).toBe(samples.length + 2);
    expect(await clear()).toEqual({ deleted: 3, more: false });
    expect(await phones()).toEqual(samples);
    expect(await server.onPhone("15550860001")).toEqual([]);
    expect((await server.request("GET", `/v1/messages/${ids[0]}`)).status).toBe(200);
    expect(await clear()).toEqual({ deleted: 0, more: false });
    await sendTo("15550860001");
    expect((await phones()).find(({ number }) => number === "15550860001")).toMatchObject({ messageCount: 1 });
  });

  test("deletes only what was received before the given time, and nothing without one", async () => {
    await clear();
    const before = Date.now();
    await sendTo("15550860030");
    const old = await server.request("POST", "/api/simulator/phones/clear", { receivedBefore: before - 1 });
    expect(old.body).toEqual({ deleted: 0, more: false });
    const { status, body } = await server.request("POST", "/api/simulator/phones/clear", {});
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('"receivedBefore"');
    expect(await server.onPhone("15550860030")).toHaveLength(1);
  });

  test("keeps a message until its delivery report has been sent", async () => {
    await clear();
    await sendTo("15550860010");
    await server.request("PUT", "/api/simulator/chaos", { delayMs: 60_000 });
    try {
      await server.send({ to: "15550860010" });
      await eventually(
        () => server.onPhone("15550860010"),
        ({ length }) => length === 2,
      );
      expect(await clear()).toEqual({ deleted: 1, more: false });
      const left = (await phones()).find(({ number }) => number === "15550860010");
      expect(left).toMatchObject({ messageCount: 1, lastMessageAt: expect.any(Number) });
    } finally {
      await server.request("PUT", "/api/simulator/chaos", { delayMs: 200 });
    }
  });

  test("is closed to test keys, which would delete live messages", async () => {
    await server.send({ to: "15550860020" });
    await eventually(
      () => server.onPhone("15550860020"),
      ({ length }) => length === 1,
    );
    const { body } = await server.asOwner<{ key: string }>("POST", "/api/keys", {
      name: "tester",
      scopes: ["read"],
      mode: "test",
    });
    const refused = await server.request("POST", "/api/simulator/phones/clear", ALL, { apikey: body.key });
    expect(refused.status).toBe(403);
    expect(await server.onPhone("15550860020")).toHaveLength(1);
  });
});
