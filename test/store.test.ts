import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type QueryResult,
} from "kysely";
import { describe, expect, it } from "vitest";
import { newId } from "../src/lib/ids.ts";
import type { MessageRef } from "../src/model/message.ts";
import { FunctionDriver, type Engine } from "../src/store/engine.ts";
import { createInbound } from "../src/store/inbound.ts";
import { createReading } from "../src/store/reading.ts";
import { IS_WAITING } from "../src/store/rows.ts";
import { createIntend } from "../src/store/sqlite/intend.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { createPutSubmissions } from "../src/store/sqlite/put-submissions.ts";
import type { Tables } from "../src/store/tables.ts";
import { receiptStoreSuite } from "./receipt-store.suite.ts";
import { storeSuite } from "./store.suite.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { codeAcceptance, DIGEST } from "./support/codes.ts";
import { ENGINES, openStore } from "./support/engines.ts";

describe.each(ENGINES)("the store on %s", (engine) => {
  storeSuite(engine);
  receiptStoreSuite(engine);
});

/** A database that answers every query with its plan's lines instead of rows. */
function explaining(sqlite: DatabaseSync, plans: string[][]): Kysely<Tables> {
  const explain = async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
    const plan = sqlite.prepare(`explain query plan ${sql}`).all(...(parameters as SQLInputValue[]));
    plans.push(plan.map(({ detail }) => String(detail)));
    return { rows: [] };
  };
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new FunctionDriver(explain),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

describe("what users send back, in the store on sqlite", () => {
  it("is found through its indexes, though there are no statistics to tell for them", async () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const plans: string[][] = [];
    const store = createInbound({ db: explaining(sqlite, plans) } as Engine);
    await store.lastInboundAt(1, "rcs", "33600000001", "BOT");
    await store.listInbound(1, { channel: "rcs", from: "33600000001", to: "BOT" }, newId(NOON), 10);
    await store.listAnswers({ accountId: 1, requestId: newId(NOON), n: 1 }, 10);
    const used = plans.map((plan) => plan.map((line) => /INDEX (\w+)/.exec(line)?.[1]).find(Boolean));
    const ofConversation = "inbound_of_conversation";
    expect(used).toEqual([ofConversation, ofConversation, ofConversation, "inbound_answers"]);
    sqlite.close();
  });
});

const planOf = (sqlite: DatabaseSync, sql: string): unknown[] =>
  sqlite
    .prepare(`explain query plan ${sql}`)
    .all()
    .map(({ detail }) => detail);

describe("tries at codes, in the store on sqlite", () => {
  it("are decided each for itself where one of a batch cannot be written", async () => {
    const { store, discard } = await openStore("sqlite");
    const request = codeAcceptance();
    await store.accept([request]);
    const right = { accountId: 1, mode: "live", id: request.message.requestId, digest: DIGEST, at: NOON + 1 } as const;
    const unwritable = { ...right, id: newId(NOON), at: Number.NaN };
    const results = await store.checkCodes([{ ...right, digest: "wrong" }, unwritable, right]);
    expect(results).toEqual([{ kind: "incorrect", remaining: 4 }, expect.any(Error), { kind: "verified" }]);
    await discard();
  });
});

describe("the ids of carriers, in the store on sqlite", () => {
  it.each([
    ["plain", 1, "a1", true],
    ["of the last place that a request can have", 1000, "a1", true],
    ["with a zero in it, which ends a text that is cut", 1, "a\0b", false],
    ["of a place that nobody can have", 1_000_000, "a1", false],
  ])("are written together, or are left to be written alone: one %s", (_, n, id, together) => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const submissions = createPutSubmissions(sqlite)();
    const ref = { accountId: 2, requestId: newId(NOON), n };
    expect(submissions.add("1/north", id, ref)).toBe(together);
    submissions.write();
    const rows = sqlite.prepare("select carrier, carrier_message_id, account_id, request_id, n from submissions").all();
    const row = { carrier: "1/north", carrier_message_id: id, account_id: 2, request_id: ref.requestId, n };
    expect(rows.map((each) => ({ ...each }))).toEqual(together ? [row] : []);
    sqlite.close();
  });
});

describe("what waits, in the store on sqlite", () => {
  it("is counted in its index alone, so that a million of them hold up nobody who reads", async () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const plans: string[][] = [];
    const { countWaiting } = createReading({ db: explaining(sqlite, plans) } as Engine);
    await countWaiting().catch(() => "there is no row to count by");
    expect(plans).toEqual([["SCAN messages USING COVERING INDEX messages_waiting"]]);
    sqlite.close();
  });

  it("is claimed in the order of its index", () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const claim = `select account_id, request_id, n from messages
      where owner = ? and lane = ? and due_at <= ? and ${IS_WAITING} order by due_at limit ?`;
    expect(planOf(sqlite, claim)).toEqual([
      "SEARCH messages USING COVERING INDEX messages_waiting (owner=? AND lane=? AND due_at<?)",
    ]);
    sqlite.close();
  });

  it("is intended by its key, however little of it its owner has", () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    // As it would be after an analysis at a quiet moment.
    sqlite.exec("analyze; insert into sqlite_stat1 values ('messages', 'messages_waiting', '2 1 1 1 1 1 1 1')");
    sqlite.exec(
      "insert into sqlite_stat1 values ('messages', 'messages', '9000000 9000000 1000 1'); analyze sqlite_schema",
    );
    const plans: unknown[][] = [];
    const prepare = (sql: string) => {
      plans.push(planOf(sqlite, sql));
      return sqlite.prepare(sql);
    };
    createIntend({ prepare } as DatabaseSync);
    const byKey = "SEARCH messages USING PRIMARY KEY (account_id=? AND request_id=? AND n>? AND n<?)";
    expect(plans).toEqual([[byKey]]);
    sqlite.close();
  });

  it("is told from what is not without a table of its own for every row that is written", () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const move = "update messages set state = ? where account_id = ? and request_id = ? and n = ?";
    const steps = sqlite.prepare(`explain ${move}`).all();
    const opcodes = steps.map(({ opcode }) => opcode);
    expect(opcodes).toContain("IdxDelete");
    expect(opcodes).not.toContain("OpenEphemeral");
    sqlite.close();
  });
});

describe("transactions that wait for each other on postgres", () => {
  // PostgreSQL ends whoever has waited for a second when the ring closes: on a machine that is slow to close it, that is the test.
  it("are done again by the store, for which the caller only waits longer", { retry: 2 }, async () => {
    const { store, execute, untilBlocked, discard } = await openStore("postgres");
    const item = acceptance({ to: ["33600000001", "33600000002"] });
    await store.accept([item]);
    await execute("begin");
    await execute("update messages set segments = 7 where n = 2");
    const move = (n: number) => ({ ...refOf(item.message), n, to: "submitting", at: NOON, owner: 1 }) as const;
    const moving = store.move([move(1), move(2)]);
    await untilBlocked();
    await execute("update messages set segments = 7 where n = 1");
    await execute("commit");
    expect(await moving).toMatchObject([{ moved: true }, { moved: true }]);
    await discard();
  });
});

const refOf = ({ accountId, requestId }: Omit<MessageRef, "n">): Omit<MessageRef, "n"> => ({ accountId, requestId });
