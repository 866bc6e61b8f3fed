import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Audience, AudienceLayout } from "../../src/model/audience.ts";
import type { AudienceWork } from "../../src/store/audience-check.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";

const LAYOUT: AudienceLayout = { delimiter: ",", hasHeader: false, columns: ["1"], number: 0, variables: [] };
const FILE = "15550100100\n15550100101\n15550100100\n";
/** The claims of these tests end after a second. */
const SECOND = 1000;

describe.each(ENGINES)("the check of an audience in the store on %s", (engine) => {
  let opened: OpenStore;
  let store: Store;
  let audience: Audience;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
    audience = {
      accountId: 1,
      id: newId(NOON),
      test: false,
      name: "people",
      state: "uploading",
      size: FILE.length,
      received: 0,
      checked: 0,
      sheet: null,
      mapping: null,
      layout: null,
      rows: 0,
      recipients: 0,
      faults: 0,
      optedOut: 0,
      failure: null,
      createdAt: NOON,
      endedAt: null,
      hasFile: true,
      segment: null,
    };
    await store.addAudience(audience);
    await store.addAudiencePart(audience, { offset: 0, content: Buffer.from(FILE) });
  });
  afterEach(() => opened.discard());

  async function claim(process: string, now: number): Promise<AudienceWork> {
    const work = await store.claimAudience(process, now, now + SECOND);
    if (!work) throw new Error("nothing to claim");
    return work;
  }
  const check = (work: AudienceWork, claimedUntil: number) =>
    store.addCheckedRows(work, {
      from: 0,
      to: FILE.length,
      layout: LAYOUT,
      linesBefore: 0,
      lines: 3,
      rows: 3,
      recipients: ["15550100100", "15550100101", "15550100100"].map((number, index) => ({
        row: index + 1,
        number,
        values: [],
        optedOut: number.endsWith("1"),
      })),
      faults: [],
      claimedUntil,
    });
  const numbers = async (): Promise<string[]> =>
    (await store.listAudienceRecipients(audience, 0, 10)).rows.map(({ number }) => number);
  async function ready(): Promise<void> {
    const work = await claim("one", NOON);
    await check(work, NOON + SECOND);
    await store.endCheck(work, { failure: null, layout: null, at: NOON });
  }

  it("a process that has lost its claim removes no rows of the next check", async () => {
    await ready();
    await store.mapAudience(audience, { mapping: { number: "1" }, sheet: null });
    const paused = await claim("one", NOON + SECOND);
    const later = NOON + 3 * SECOND;
    const other = await claim("two", later);
    expect(await store.clearAudience(other, 10, later + SECOND)).toBe(false);
    expect(await store.clearAudience(other, 10, later + SECOND)).toBe(true);
    expect(await check(await claim("two", later), later + SECOND)).not.toBeNull();
    expect(await store.clearAudience(paused, 10, later + 9 * SECOND)).toBeNull();
    expect(await numbers()).toEqual(["15550100100", "15550100101"]);
    expect(await store.findAudience(audience)).toMatchObject({ rows: 3, recipients: 2, optedOut: 1 });
  });

  it("an erased number is one row and one recipient less, and no duplicate more", async () => {
    await ready();
    expect(await store.eraseFromAudiences(1, "15550100101")).toBe(1);
    expect(await store.findAudience(audience)).toMatchObject({ rows: 2, recipients: 1, optedOut: 0, faults: 0 });
  });

  it("a file that is mapped again while a number is erased is kept for its check", async () => {
    await ready();
    await opened.execute("begin");
    await opened.execute(`update audiences set state = 'checking', checked = -1`);
    const erased = store.eraseFromAudiences(1, "15550100101");
    await opened.untilBlocked();
    await opened.execute("commit");
    await erased;
    expect(await store.findAudience(audience)).toMatchObject({ state: "checking", hasFile: true });
    expect(String(await store.findAudienceBytes(audience, 0))).toBe(FILE);
  });

  it.runIf(engine === "postgres")(
    "a file is removed in several transactions, so that sends wait for none of it",
    async () => {
      const pieces = 40;
      const large = { ...audience, id: newId(NOON + 1), size: pieces * 196_608 };
      await store.addAudience(large);
      await store.addAudiencePart(large, { offset: 0, content: Buffer.alloc(large.size, "15550100100\n") });
      await store.removeAudience(large);
      const ofFile = `from audience_parts where audience_id = '${large.id}'`;
      await opened.execute("begin");
      await opened.execute(`select at ${ofFile} order by at desc limit 1 for update`);
      const removed = store.endRemoval({
        audience: large,
        lines: 0,
        isCleared: true,
        isDeleting: true,
        position: null,
        claim: "one",
      });
      await opened.untilBlocked();
      expect((await opened.execute(`select at ${ofFile}`)).length).toBeLessThan(pieces);
      await opened.execute("commit");
      await removed;
      expect(await opened.execute(`select at ${ofFile}`)).toEqual([]);
    },
  );

  it("a file is removed after its time, also if a crash interrupted the removal; its recipients stay", async () => {
    await ready();
    await store.releaseAudienceFiles(NOON, NOON);
    expect(await store.findAudience(audience)).toMatchObject({ hasFile: true });
    await store.releaseAudienceFiles(NOON + 1, NOON);
    expect(await store.findAudience(audience)).toMatchObject({ state: "ready", hasFile: false });
    expect(await store.findAudienceBytes(audience, 0)).toBeNull();
    expect(await numbers()).toEqual(["15550100100", "15550100101"]);
    const next = { ...audience, id: newId(NOON + 1) };
    await store.addAudience(next);
    await store.addAudiencePart(next, { offset: 0, content: Buffer.from(FILE) });
    await opened.execute(
      `update audiences set state = 'ready', ended_at = ${NOON}, has_file = 2 where id = '${next.id}'`,
    );
    await store.releaseAudienceFiles(NOON + 1, NOON);
    expect(await store.findAudienceBytes(next, 0)).toBeNull();
  });

  it("an upload that is not complete in time is removed", async () => {
    const upload = { ...audience, id: newId(NOON + 1), size: 100 };
    await store.addAudience(upload);
    await store.releaseAudienceFiles(NOON, NOON);
    expect(await store.findAudience(upload)).not.toBeNull();
    await store.releaseAudienceFiles(NOON, NOON + 1);
    expect(await store.findAudience(upload)).toBeNull();
    expect(await store.findAudience(audience)).toMatchObject({ state: "checking" });
  });

  it("a removal that stopped after the last row ends with the next process", async () => {
    await ready();
    await store.removeAudience(audience);
    const stopped = await claim("one", NOON + SECOND);
    expect(await store.clearAudience(stopped, 10, NOON + 2 * SECOND)).toBe(false);
    expect(await store.clearAudience(stopped, 10, NOON + 2 * SECOND)).toBe(true);
    const next = await claim("two", NOON + 3 * SECOND);
    expect(await store.clearAudience(next, 10, NOON + 4 * SECOND)).toBe(true);
    await store.endRemoval(next);
    expect(await opened.execute("select * from audiences")).toEqual([]);
    expect(await opened.execute("select * from audience_parts")).toEqual([]);
  });
});
