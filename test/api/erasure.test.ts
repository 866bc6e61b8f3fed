import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { compactFile } from "../../src/store/sqlite/compact.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { checked, upload } from "../support/audiences.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { insertLinks } from "../support/links.ts";
import type { Envelope, ErrorBody } from "../support/test-server.ts";

interface Removal {
  contact: { number: string } | null;
  erasure: { id: string; state: string } | null;
  error?: ErrorBody;
}

/** No part of it occurs in another number of the tests. */
const NUMBER = "15557654321";
/** A longer number that begins with it, and one that it ends. */
const OTHERS = ["155576543211", "915557654321"];
const KEPT = "15550100100";

describe.each(ENGINES)("the erasure of a number on %s", (engine) => {
  let tenants: Tenants;
  beforeEach(async () => {
    tenants = await openTenants(engine);
  });
  afterEach(() => tenants.close());

  const request = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    tenants.server.request<T>(method, path, body, headers);

  /** Leaves a trace of a number in as many places as requests can reach. */
  async function leaveTraces(number: string): Promise<void> {
    const { server } = tenants;
    const sent = await server.send(
      { to: number, text: `For ${number}`, campaignName: "autumn" },
      { "idempotency-key": `order ${number}` },
    );
    await server.settled(sent.body.data[0]?.messageId ?? "");
    const bulk = await server.send({ to: [KEPT, number], text: "Hello" });
    for (const { messageId } of bulk.body.data) await server.settled(messageId);
    const mention = await server.send({ to: KEPT, text: `Ask +${number} about it` });
    await server.settled(mention.body.data[0]?.messageId ?? "");
    await server.send({ to: number, sendAt: Date.now() + 3_600_000 });
    await request("POST", `/api/simulator/phones/${number}/reply`, { to: "HELIOG", text: "Hello" });
    await request("POST", `/api/simulator/phones/${KEPT}/reply`, { to: "HELIOG", text: `I am not ${number}` });
    const code = await request<{ data: string }>("POST", "/v1/verify", { configId: "default", to: number });
    await server.settled(`${code.body.data}:1`);
    await request("PUT", `/v1/contacts/${number}`, { name: "Ada", attributes: { city: "Pune" } });
    await request("PUT", `/v1/contacts/${KEPT}`, { attributes: { friend: number } });
    await checked(request, await upload(request, `phone,name,friend\n${number},Ada,\n${KEPT},Bob,${number}\n`));
    await server.asOwner("POST", "/api/credits", { amount: 5, note: `from ${number}` });
    await insertLinks(tenants.execute, { targets: [`https://shop.example/${number}`] });
    await server.app.store.storeUnmatched(
      [
        {
          carrier: "1/line",
          carrierMessageId: `of ${number.length}`,
          recipient: number,
          state: "expired",
          errorCode: null,
          description: null,
          at: 1,
        },
      ],
      Date.now(),
    );
  }

  async function erase(number: string): Promise<void> {
    const { body } = await request<Removal>("DELETE", `/v1/contacts/${number}?erase=true`);
    await eventually(
      () => request<{ state: string }>("GET", `/v1/erasures/${body.erasure?.id}`),
      (answer) => answer.body.state === "finished",
    );
  }

  /** The tables with a row that mentions a number as a whole, and the rows as text. */
  async function tracesOf(number: string): Promise<string[]> {
    const tables =
      engine === "sqlite"
        ? "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
        : "select tablename as name from pg_tables where schemaname = 'public'";
    const traces: string[] = [];
    for (const { name } of (await tenants.execute(tables)) as { name: string }[])
      for (const row of (await tenants.execute(`select * from "${name}"`)) as object[])
        if (new RegExp(String.raw`(?<!\d)${number}(?!\d)`).test(JSON.stringify(row)))
          traces.push(`${name}: ${JSON.stringify(row)}`);
    return traces;
  }

  test("no table has a trace of it afterwards, other numbers stay, and the ledger's sums too", async () => {
    for (const number of [NUMBER, ...OTHERS]) await leaveTraces(number);
    const tablesOf = async (number: string) =>
      new Set((await tracesOf(number)).map((trace) => trace.slice(0, trace.indexOf(":"))));
    expect([...(await tablesOf(NUMBER))].toSorted()).toEqual(
      expect.arrayContaining([
        "audience_recipients", "contacts", "conversations", "idempotency", "inbound", "ledger",
        "link_targets", "messages", "parked_receipts", "phone_messages", "phones", "verifications", "verify_numbers",
      ]),
    ); // prettier-ignore
    const sums = "select sum(amount) as amount, sum(held) as held from ledger";
    const before = await tenants.execute(sums);
    const [first = "", second = ""] = OTHERS;
    const others = [await tracesOf(first), await tracesOf(second)];

    await erase(NUMBER);
    expect(await tracesOf(NUMBER)).toEqual([]);
    expect(await tenants.execute(sums)).toEqual(before);
    // Rows that name both numbers have lost the erased one alone.
    const without = (traces: string[]): number => traces.length;
    expect(without(await tracesOf(first))).toBe(without(others[0] ?? []));
    expect(without(await tracesOf(second))).toBe(without(others[1] ?? []));
    const scheduled = await request<{ data: { state: string }[] }>("GET", `/v1/messages?recipient=${NUMBER}`);
    expect(scheduled.body.data).toEqual([]);
    const mention = await request<{ data: { text: string }[] }>("GET", `/v1/messages?recipient=${KEPT}`);
    expect(mention.body.data.map(({ text }) => text)).toContain("Ask +[erased] about it");
  });

  test("its STOP still binds, on every node, until it says START", async () => {
    await request("POST", `/api/simulator/phones/${NUMBER}/reply`, { to: "HELIOG", text: "STOP" });
    await erase(NUMBER);
    expect(await tracesOf(NUMBER)).toEqual([]);
    const promote = () =>
      request<Envelope>("POST", "/v1/sms", { sender: "HELIOG", to: NUMBER, text: "Sale", type: "PROMO" });
    const refused = await promote();
    expect([refused.status, refused.body.error?.code]).toEqual([403, "RECIPIENT_OPTED_OUT"]);
    expect((await request<{ optedOut: boolean }>("PUT", `/v1/contacts/${NUMBER}`, {})).body.optedOut).toBe(true);
    await request("POST", `/api/simulator/phones/${NUMBER}/reply`, { to: "HELIOG", text: "START" });
    expect((await promote()).status).toBe(200);
  });

  test("it needs the scope manage and a live key, and runs once at a time", async () => {
    const key = await request<{ key: string }>("POST", "/api/keys", { name: "sender", scopes: ["sms", "read"] });
    const path = `/v1/contacts/${NUMBER}?erase=true`;
    expect((await request<Removal>("DELETE", path, undefined, { apikey: key.body.key })).status).toBe(403);
    expect((await request<Removal>("DELETE", path, undefined, { apikey: tenants.server.testKey })).status).toBe(403);
    const wrong = await request<Removal>("DELETE", `/v1/contacts/${NUMBER}?erase=yes`);
    expect([wrong.status, wrong.body.error?.parameter]).toEqual([400, "erase"]);
    const [one, other] = [await request<Removal>("DELETE", path), await request<Removal>("DELETE", path)];
    expect(other.body.erasure?.id).toBe(one.body.erasure?.id);
    expect(one.body.contact).toBeNull();
  });

  test("an export has everything about the number before, and nothing afterwards", async () => {
    await leaveTraces(NUMBER);
    const path = `/v1/contacts/${NUMBER}/export`;
    const { body } = await request<{ contact: object; messages: object[]; received: object[]; more: boolean }>(
      "GET",
      path,
    );
    expect(body).toMatchObject({ number: NUMBER, contact: { name: "Ada" }, optOut: null, more: false });
    expect([body.messages.length, body.received.length]).toEqual([4, 1]);
    await erase(NUMBER);
    expect((await request("GET", path)).status).toBe(404);
  });

  test.runIf(engine === "sqlite")("no byte of the database files has it, once they are compacted", async () => {
    await leaveTraces(NUMBER);
    const bytesIn = (folder: string): Buffer =>
      Buffer.concat(
        readdirSync(folder)
          .filter((name) => name.startsWith("heliograph.db"))
          .map((name) => readFileSync(join(folder, name))),
      );
    expect(bytesIn(tenants.dataDir).includes(NUMBER)).toBe(true);
    await erase(NUMBER);
    // The files of a stopped server: a copy of them, while nothing is written.
    const copy = await mkdtemp(join(inject("scratchFolder"), "erased-"));
    for (const name of readdirSync(tenants.dataDir).filter((each) => /^heliograph\.db(?:-wal)?$/.test(each)))
      copyFileSync(join(tenants.dataDir, name), join(copy, name));
    compactFile(join(copy, "heliograph.db"));
    expect(bytesIn(copy).includes(KEPT)).toBe(true);
    expect(bytesIn(copy).includes(NUMBER)).toBe(false);
  });
});
