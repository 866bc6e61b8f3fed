import { describe, expect, it } from "vitest";
import type { MessageRef } from "../src/model/message.ts";
import { storeSuite } from "./store.suite.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { ENGINES, openStore } from "./support/engines.ts";

describe.each(ENGINES)("the store on %s", (engine) => {
  storeSuite(engine);
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
