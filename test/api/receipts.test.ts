import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseMessageId } from "../../src/model/message.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import type { ErrorBody, TestServer } from "../support/test-server.ts";
import { transitionAll } from "../support/transitions.ts";

interface ReceiptBody {
  id: string;
  carrier: string;
  carrierMessageId: string;
  recipient: string | null;
}

/** So long ago that the job, faster than the test, no longer looks at it; not so long that it is forgotten. */
const PARKED_AT = Date.now() - 2 * 3_600_000;

describe.each(ENGINES)("unmatched receipts on %s", (engine) => {
  let tenants: Tenants;
  let server: TestServer;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    server = tenants.server;
  });
  afterAll(() => tenants.close());

  let made = 0;
  async function parked(more: Partial<Receipt> = {}): Promise<Receipt> {
    made += 1;
    const receipt: Receipt = {
      carrier: "1/north",
      carrierMessageId: `id-${made}`,
      state: "delivered",
      errorCode: "000",
      description: "Delivered to the phone",
      at: 1767225600000,
      recipient: "33612345678",
      ...more,
    };
    await server.app.store.storeUnmatched([receipt], PARKED_AT);
    return receipt;
  }
  const list = async (query = ""): Promise<ReceiptBody[]> =>
    (await server.request<{ data: ReceiptBody[] }>("GET", `/api/receipts${query}`)).body.data;
  const idOf = async (id: string): Promise<string> =>
    (await list()).find(({ carrierMessageId }) => carrierMessageId === id)?.id ?? "";
  /** The carrier's answer to a submit becomes known behind the service's back. */
  async function submitted(carrierMessageId: string, to = "33612345678"): Promise<string> {
    const sent = await server.send({ to, sendAt: Date.now() + 3_600_000 });
    const messageId = sent.body.data[0]?.messageId ?? "";
    const ref = parseMessageId(messageId);
    if (!ref) throw new Error(JSON.stringify(sent.body));
    const move = { accountId: 1, ...ref, at: Date.now(), owner: UNOWNED, carrier: "1/north" };
    await transitionAll(server.app.store, [{ ...move, to: "submitting" }]);
    await transitionAll(server.app.store, [{ ...move, to: "submitted", carrierMessageId }]);
    return messageId;
  }

  test("unmatched receipts are listed newest first with all fields, and only the end of the number", async () => {
    const { carrierMessageId } = await parked({ otherIds: ["zz"] });
    const [newest] = await list();
    expect(newest).toEqual({
      id: expect.stringMatching(/^\d+$/),
      carrier: "north",
      carrierMessageId,
      otherIds: ["zz"],
      recipient: "*******5678",
      state: "delivered",
      errCode: "000",
      statusDescription: "Delivered to the phone",
      at: 1767225600000,
      receivedAt: PARKED_AT,
    });
  });

  test("unmatched receipts are listed in pages, and by carrier", async () => {
    for (const carrier of ["1/paged", "1/paged", "1/paged", "1/other"]) await parked({ carrier });
    const all = (await list("?carrier=paged")).map(({ id }) => id);
    expect(all).toHaveLength(3);
    const first = await server.request<{ data: ReceiptBody[]; nextCursor: string }>(
      "GET",
      "/api/receipts?carrier=paged&limit=2",
    );
    const rest = await list(`?carrier=paged&limit=2&cursor=${first.body.nextCursor}`);
    expect([...first.body.data, ...rest].map(({ id }) => id)).toEqual(all);
    expect(await list("?carrier=nobody")).toEqual([]);
    const wrong = await server.request<{ error: ErrorBody }>("GET", "/api/receipts?cursor=x");
    expect(wrong.body.error).toMatchObject({ code: "INVALID_REQUEST", parameter: "cursor" });
  });

  test("a replayed receipt stays if it still matches nothing, and is applied and removed if its message is known", async () => {
    const { carrierMessageId } = await parked({ carrierMessageId: "0255", otherIds: ["ff"] });
    const id = await idOf(carrierMessageId);
    const inVain = await server.request("POST", `/api/receipts/${id}/replay`);
    expect(inVain).toMatchObject({ status: 200, body: { matched: false, messageId: null } });
    expect(await idOf(carrierMessageId)).toBe(id);
    const messageId = await submitted("ff");
    const matched = await server.request("POST", `/api/receipts/${id}/replay`);
    expect(matched).toMatchObject({ status: 200, body: { matched: true, messageId } });
    expect(await server.message(messageId)).toMatchObject({ status: "Delivered" });
    expect(await idOf(carrierMessageId)).toBe("");
    expect(await server.request("POST", `/api/receipts/${id}/replay`)).toMatchObject({ status: 404 });
  });

  test("all unmatched receipts of a carrier are replayed at once", async () => {
    const respelled = { carrier: "1/north", otherIds: ["a1"] };
    await parked({ ...respelled, carrierMessageId: "161", recipient: "33600000001" });
    await parked({ ...respelled, carrierMessageId: "00161", recipient: "33600000002" });
    await submitted("a1", "33600000001");
    const elsewhere = await server.request("POST", "/api/receipts/replay", { carrier: "other" });
    expect(elsewhere.body).toMatchObject({ matched: 0, nextCursor: null });
    const before = await list("?carrier=north&limit=200");
    const replayed = await server.request("POST", "/api/receipts/replay", { carrier: "north" });
    expect(replayed.body).toEqual({ looked: before.length, matched: 1, nextCursor: null });
    expect(await idOf("161")).toBe("");
    expect(await idOf("00161")).not.toBe("");
  });

  test("an unmatched receipt can be removed", async () => {
    const { carrierMessageId } = await parked();
    const id = await idOf(carrierMessageId);
    expect(await server.request("DELETE", `/api/receipts/${id}`)).toMatchObject({
      status: 200,
      body: { carrierMessageId },
    });
    expect(await server.request("DELETE", `/api/receipts/${id}`)).toMatchObject({ status: 404 });
    for (const none of ["0", "-1", "1.5", "abc", "99999999999999999"])
      expect((await server.request("DELETE", `/api/receipts/${none}`)).status).toBe(404);
  });

  test("unmatched receipts of another account are invisible, and not matched to this account's messages", async () => {
    const { accountId, minted } = await tenants.addAccount(`other-${engine}`);
    await parked({ carrier: `${accountId}/north`, carrierMessageId: "theirs", otherIds: ["7e57"] });
    const apikey = { apikey: minted.secret };
    const theirs = await server.request<{ data: ReceiptBody[] }>("GET", "/api/receipts", undefined, apikey);
    expect(theirs.body.data.map(({ carrierMessageId }) => carrierMessageId)).toEqual(["theirs"]);
    expect(await idOf("theirs")).toBe("");
    await submitted("7e57");
    const replayed = await server.request("POST", "/api/receipts/replay", {}, apikey);
    expect(replayed.body).toMatchObject({ looked: 1, matched: 0 });
  });
});
