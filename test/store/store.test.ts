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
import { newId } from "../../src/lib/ids.ts";
import type { MessageRef } from "../../src/model/message.ts";
import { FunctionDriver, type Engine } from "../../src/store/engine.ts";
import { createCallbacks } from "../../src/store/callbacks.ts";
import { createInbound } from "../../src/store/inbound.ts";
import { createReading } from "../../src/store/reading.ts";
import { IS_WAITING } from "../../src/store/rows.ts";
import { CampaignCounts } from "../../src/store/sqlite/campaign-counts.ts";
import { createFastStatements } from "../../src/store/sqlite/fast.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { createPutSubmissions } from "../../src/store/sqlite/put-submissions.ts";
import type { Tables } from "../../src/store/tables.ts";
import { receiptStoreSuite } from "./receipt-store.suite.ts";
import { storeSuite } from "./store.suite.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { codeAcceptance, DIGEST } from "../support/codes.ts";
import { ENGINES, hasPostgres, openStore } from "../support/engines.ts";
import { transitionAll } from "../support/transitions.ts";

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

describe("callbacks, in the store on sqlite", () => {
  it("of one message, and those that wait for an endpoint, are found without the other callbacks of the account", async () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const plans: string[][] = [];
    const store = createCallbacks({ db: explaining(sqlite, plans) } as Engine, null);
    await store.listCallbacksOfMessage({ accountId: 1, requestId: newId(NOON), n: 1 }, 10);
    await store.countWaitingOf(1, newId(NOON));
    expect(plans).toEqual([
      [
        "SEARCH callbacks USING PRIMARY KEY (account_id=? AND event_id=? AND endpoint_id=?)",
        expect.stringMatching(/^LIST SUBQUERY/),
        "SEARCH callbacks USING COVERING INDEX callbacks_of_message (account_id=? AND request_id=? AND n=?)",
        "USE TEMP B-TREE FOR ORDER BY",
      ],
      ["SCAN callbacks USING COVERING INDEX callbacks_waiting"],
    ]);
    sqlite.close();
  });

  it("resending failed callbacks does not read the account's other callbacks", async () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const plans: string[][] = [];
    const store = createCallbacks({ db: explaining(sqlite, plans) } as Engine, null);
    await store.resendUndelivered(1, newId(NOON), NOON, NOON, 10);
    expect(plans.flat()).toContainEqual(
      expect.stringMatching(/INDEX callbacks_failed \(account_id=\? AND endpoint_id>/),
    );
    expect(plans.flat()).toContainEqual(expect.stringMatching(/INDEX callbacks_waiting \(owner=\? AND due_at>/));
    sqlite.close();
  });
});

describe("inbound messages in the store on sqlite", () => {
  it("inbound messages are found through their indexes, even without statistics", async () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const plans: string[][] = [];
    const store = createInbound({ db: explaining(sqlite, plans) } as Engine, null);
    await store.lastInboundAt(1, "rcs", "33600000001", "BOT", { test: false });
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

describe("code checks in the store on sqlite", () => {
  it("code checks of a batch are decided one by one if one cannot be written", async () => {
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

describe("carrier message ids in the store on sqlite", () => {
  it.each([
    ["plain", 1, "a1", true],
    ["of the last place that a request can have", 1000, "a1", true],
    ["with a zero in it, which ends a text that is cut", 1, "a\0b", false],
    ["of a place that nobody can have", 1_000_000, "a1", false],
  ])("carrier message ids are written together, or one by one with: one %s", (_, n, id, together) => {
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

describe("waiting messages in the store on sqlite", () => {
  it("waiting messages are counted in their index alone, so that a million of them block no reader", async () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const plans: string[][] = [];
    const { countWaiting } = createReading({ db: explaining(sqlite, plans) } as Engine);
    await countWaiting().catch(() => "there is no row to count by");
    expect(plans).toEqual([["SCAN messages USING COVERING INDEX messages_waiting"]]);
    sqlite.close();
  });

  it("waiting messages are claimed in index order", () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const claim = `select account_id, request_id, n from messages
      where owner = ? and lane = ? and due_at <= ? and ${IS_WAITING} order by due_at limit ?`;
    expect(planOf(sqlite, claim)).toEqual([
      "SEARCH messages USING COVERING INDEX messages_waiting (owner=? AND lane=? AND due_at<?)",
    ]);
    sqlite.close();
  });

  it.each([
    ["without statistics", false],
    ["with those of a quiet moment", true],
  ])("waiting messages are updated by key, however few their owner has: %s", (_, hasStatistics) => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    // As it would be after an analysis at a quiet moment.
    if (hasStatistics) {
      sqlite.exec("analyze; insert into sqlite_stat1 values ('messages', 'messages_waiting', '2 1 1 1 1 1 1 1')");
      sqlite.exec(
        "insert into sqlite_stat1 values ('messages', 'messages', '9000000 9000000 1000 1'); analyze sqlite_schema",
      );
    }
    const plans: unknown[][] = [];
    const prepare = (sql: string) => {
      plans.push(planOf(sqlite, sql));
      return sqlite.prepare(sql);
    };
    createFastStatements({ prepare } as DatabaseSync, new CampaignCounts(sqlite));
    const byKey = "SEARCH messages USING PRIMARY KEY (account_id=? AND request_id=? AND n>? AND n<?)";
    // For messages that an opt-out or a campaign may have stopped.
    const byKeyUnlessStopped = [
      byKey,
      "CORRELATED SCALAR SUBQUERY 1",
      "SEARCH optouts USING PRIMARY KEY (account_id=? AND number=?)",
      "CORRELATED SCALAR SUBQUERY 2",
      "SEARCH test_optouts USING PRIMARY KEY (account_id=? AND number=?)",
      "CORRELATED SCALAR SUBQUERY 3",
      "SEARCH catalog USING INDEX sqlite_autoindex_catalog_2 (account_id=? AND kind=? AND name=?)",
    ];
    expect(plans).toEqual([
      [byKey],
      byKeyUnlessStopped,
      // The same for the messages of a campaign.
      [byKey],
      byKeyUnlessStopped,
      // Submitted, submitted and erased, delivered.
      ...[1, 2, 3].map(() => ["SEARCH messages USING PRIMARY KEY (account_id=? AND request_id=? AND n=?)"]),
    ]);
    sqlite.close();
  });

  it("transitions check stops without a temporary table per row", () => {
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

describe.runIf(hasPostgres)("deadlocks on postgres", () => {
  // PostgreSQL aborts the session that finds the deadlock. On a slow machine this is the test's own, hence the retries.
  it("the store repeats a transaction that was a deadlock's victim", { retry: 2 }, async () => {
    const { store, execute, untilBlocked, discard } = await openStore("postgres");
    const item = acceptance({ to: ["33600000001", "33600000002"] });
    await store.accept([item]);
    await execute("begin");
    await execute("update messages set segments = 7 where n = 2");
    const move = (n: number) => ({ ...refOf(item.message), n, to: "submitting", at: NOON, owner: 1 }) as const;
    const moving = transitionAll(store, [move(1), move(2)]);
    await untilBlocked();
    await execute("update messages set segments = 7 where n = 1");
    await execute("commit");
    expect(await moving).toMatchObject([{ moved: true }, { moved: true }]);
    await discard();
  });
});

const refOf = ({ accountId, requestId }: Omit<MessageRef, "n">): Omit<MessageRef, "n"> => ({ accountId, requestId });
