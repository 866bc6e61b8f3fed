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
import { migrate } from "../src/store/sqlite/migrate.ts";
import type { Tables } from "../src/store/tables.ts";
import { receiptStoreSuite } from "./receipt-store.suite.ts";
import { storeSuite } from "./store.suite.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { ENGINES, openStore } from "./support/engines.ts";

describe.each(ENGINES)("the store on %s", (engine) => {
  storeSuite(engine);
  receiptStoreSuite(engine);
});

describe("what users send back, in the store on sqlite", () => {
  it("is found through its indexes, though there are no statistics to tell for them", async () => {
    const sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
    const used: unknown[] = [];
    const explain = async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const plan = sqlite.prepare(`explain query plan ${sql}`).all(...(parameters as SQLInputValue[]));
      used.push(plan.map(({ detail }) => /INDEX (\w+)/.exec(String(detail))?.[1]).find(Boolean));
      return { rows: [] };
    };
    const db = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new FunctionDriver(explain),
        createIntrospector: (kysely) => new SqliteIntrospector(kysely),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
    const store = createInbound({ db } as Engine);
    await store.lastInboundAt(1, "rcs", "33600000001", "BOT");
    await store.listInbound(1, { channel: "rcs", from: "33600000001", to: "BOT" }, newId(NOON), 10);
    await store.listAnswers({ accountId: 1, requestId: newId(NOON), n: 1 }, 10);
    const ofConversation = "inbound_of_conversation";
    expect(used).toEqual([ofConversation, ofConversation, ofConversation, "inbound_answers"]);
    sqlite.close();
  });
});

describe("transactions that wait for each other on postgres", () => {
  it("are done again by the store, for which the caller only waits longer", async () => {
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
