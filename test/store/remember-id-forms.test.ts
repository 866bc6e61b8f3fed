import { describe, expect, test } from "vitest";
import { rememberIdForms } from "../../src/carriers/remember-id-forms.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { ENGINES, openStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";

describe.each(ENGINES)("the learned id format on %s", (engine) => {
  test("a learned id format is known to the next connection of the record, and after a restart", async () => {
    const { store, discard } = await openStore(engine);
    const deps = { store, clock: new MovedClock(), log: createLog("silent") };
    const [record, other] = [
      { accountId: 1, id: newId(0) },
      { accountId: 1, id: newId(0) },
    ];
    const before = await rememberIdForms(deps);
    expect(before(record).learnedIdForm).toBeNull();
    before(record).onLearned("in lower case");
    expect(before(record).learnedIdForm).toBe("in lower case");
    await eventually(
      () => store.listIdForms(),
      (forms) => forms.length === 1,
    );
    const after = await rememberIdForms(deps);
    expect([after(record).learnedIdForm, after(other).learnedIdForm]).toEqual(["in lower case", null]);
    await discard();
  });

  test("a learned id format is used even while it cannot be stored", async () => {
    const { store, discard } = await openStore(engine);
    const saveIdForm = (): Promise<void> => Promise.reject(new Error("away"));
    const deps = { store: { ...store, saveIdForm }, clock: new MovedClock(), log: createLog("silent") };
    const learning = await rememberIdForms(deps);
    const record = { accountId: 1, id: newId(0) };
    learning(record).onLearned("in lower case");
    expect(learning(record).learnedIdForm).toBe("in lower case");
    await discard();
  });
});
