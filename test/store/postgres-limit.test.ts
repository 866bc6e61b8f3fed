import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Callback } from "../../src/model/callback.ts";
import type { InboundMessage } from "../../src/model/inbound.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { UNOWNED, type Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { migratedDatabase, type FreshDatabase } from "../support/databases.ts";

/** PostgreSQL then goes through the table first, and asks for the rows that are due once for each that it finds. */
describe("PostgreSQL statistics of a table with one row", () => {
  let database: FreshDatabase;
  let client: Client;
  let store: Store;
  beforeEach(async () => {
    database = await migratedDatabase(inject("postgresUrl"));
    client = new Client(database.url);
    await client.connect();
    store = await openPostgresStore(database.url);
  });
  afterEach(async () => {
    await store.close();
    await client.end();
    await database.drop();
  });

  it("a claim takes no more callbacks than its limit with outdated statistics", async () => {
    await receive(1);
    await client.query("vacuum analyze callbacks");
    await receive(4);
    expect(await store.claimCallbacks({ node: 7, from: UNOWNED, dueBy: NOON, limit: 2 })).toHaveLength(2);
    expect(await store.claimCallbacks({ node: 7, from: UNOWNED, dueBy: NOON, limit: 2 })).toHaveLength(2);
    expect(await store.claimCallbacks({ node: 7, from: UNOWNED, dueBy: NOON, limit: 2 })).toHaveLength(1);
  });

  async function receive(count: number): Promise<void> {
    const received = Array.from({ length: count }, inbound);
    await store.storeInbound(received, received.map(callbackFor), NOON);
  }
});

const ENDPOINT = newId(NOON);

const inbound = (): InboundMessage => ({
  accountId: 1,
  id: newId(NOON),
  channel: "sms",
  from: "33612345678",
  to: "HELIO",
  content: { kind: "text", text: "Hi" },
  answers: null,
  at: NOON,
});

const callbackFor = (received: InboundMessage): Callback => ({
  accountId: received.accountId,
  eventId: received.id,
  endpointId: ENDPOINT,
  happening: { kind: "inbound", at: received.at, inbound: received },
  attempts: 0,
});
