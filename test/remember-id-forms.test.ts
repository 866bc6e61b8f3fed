import { describe, expect, test } from "vitest";
import { rememberIdForms } from "../src/carriers/remember-id-forms.ts";
import { newId } from "../src/lib/ids.ts";
import { createLog } from "../src/lib/log.ts";
import { ENGINES, openStore } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { MovedClock } from "./support/moved-clock.ts";

describe.each(ENGINES)("what a line has learned of ids on %s", (engine) => {
  test("is known to the next line of the same record, and after the next start", async () => {
    const { store, discard } = await openStore(engine);
    const needs = { store, clock: new MovedClock(), log: createLog("silent") };
    const [record, other] = [
      { accountId: 1, id: newId(0) },
      { accountId: 1, id: newId(0) },
    ];
    const before = await rememberIdForms(needs);
    expect(before(record).learnedIdForm).toBeNull();
    before(record).onLearned("in lower case");
    expect(before(record).learnedIdForm).toBe("in lower case");
    await eventually(
      () => store.listIdForms(),
      (forms) => forms.length === 1,
    );
    const after = await rememberIdForms(needs);
    expect([after(record).learnedIdForm, after(other).learnedIdForm]).toEqual(["in lower case", null]);
    await discard();
  });

  test("is used all the same while the store cannot keep it", async () => {
    const { store, discard } = await openStore(engine);
    const saveIdForm = (): Promise<void> => Promise.reject(new Error("away"));
    const needs = { store: { ...store, saveIdForm }, clock: new MovedClock(), log: createLog("silent") };
    const learning = await rememberIdForms(needs);
    const record = { accountId: 1, id: newId(0) };
    learning(record).onLearned("in lower case");
    expect(learning(record).learnedIdForm).toBe("in lower case");
    await discard();
  });
});
