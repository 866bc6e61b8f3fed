import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Audience } from "../../src/model/audience.ts";
import { changeContact, type ContactImport, type ContactKey } from "../../src/model/contact.ts";
import { copySegment, layoutOfContacts } from "../../src/campaigns/copy-segment.ts";
import type { AudienceWork } from "../../src/store/audience-check.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";

const SECOND = 1000;
const keyAt = (index: number): ContactKey => ({ accountId: 1, test: false, number: String(15_550_100_000 + index) });

describe.each(ENGINES)("contacts in the store on %s", (engine) => {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  it("stores a contact only if it follows the stored one", async () => {
    const first = changeContact(keyAt(1), null, { name: "Ada" }, NOON);
    expect(await store.saveContacts([first])).toBe(1);
    expect(await store.saveContacts([first])).toBe(0);
    const second = changeContact(keyAt(1), first, { tags: ["vip"] }, NOON + 1);
    expect(await store.saveContacts([second])).toBe(1);
    expect(await store.saveContacts([second])).toBe(0);
    expect(await store.findContact(keyAt(1))).toEqual(second);
    expect(await store.findContact({ ...keyAt(1), accountId: 2 })).toBeNull();
    expect(await store.findContact({ ...keyAt(1), test: true })).toBeNull();
  });

  it("copies each contact of a segment once, although two processes repeat a step", async () => {
    const contacts = Array.from({ length: 25 }, (_, index) => changeContact(keyAt(index), null, { tags: ["a"] }, NOON));
    await store.saveContacts(contacts);
    const audience: Audience = {
      accountId: 1,
      id: newId(NOON),
      test: false,
      name: "people",
      state: "checking",
      size: 0,
      received: 0,
      checked: 0,
      sheet: null,
      mapping: null,
      layout: layoutOfContacts([]),
      rows: 0,
      recipients: 0,
      faults: 0,
      optedOut: 0,
      failure: null,
      createdAt: NOON,
      endedAt: null,
      hasFile: false,
      segment: { name: "a", filter: { tags: ["a"] } },
    };
    await store.addAudience(audience);
    const claim = async (process: string, now: number): Promise<AudienceWork> => {
      const work = await store.claimAudience(process, now, now + SECOND);
      if (!work) throw new Error("nothing to claim");
      return work;
    };
    const copy = (work: AudienceWork) =>
      copySegment({ store, rowsMax: 100 }, work, { limit: 10, until: NOON + 10 * SECOND });
    const first = await claim("one", NOON);
    expect(await copy(first)).toMatchObject({ next: { position: keyAt(9).number } });
    // The same step again, as after a lost answer, and by a process that has lost the claim.
    expect(await copy(first)).toBeNull();
    const second = await claim("two", NOON + 20 * SECOND);
    expect(await copy(first)).toBeNull();
    const next = await copy(second);
    const third = next && "next" in next ? await copy(next.next) : null;
    expect(third).toEqual({ failure: null });
    const { rows } = await store.listAudienceRecipients(audience, 0, 100);
    expect(rows.map(({ number }) => number)).toEqual(contacts.map(({ number }) => number));
    expect(await store.findAudience(audience)).toMatchObject({ rows: 25, recipients: 25 });
  });

  it("continues an import at its position in another process, and ends it once", async () => {
    const contactImport: ContactImport = {
      accountId: 1,
      test: false,
      id: newId(NOON),
      audienceId: newId(NOON),
      state: "running",
      nameVariable: null,
      attributes: {},
      tags: [],
      consents: [],
      total: 10,
      done: 0,
      failure: null,
      createdAt: NOON,
      endedAt: null,
    };
    await store.addContactImport(contactImport);
    const first = await store.claimContactImport("one", NOON, NOON + SECOND);
    if (!first) throw new Error("nothing to claim");
    expect(await store.claimContactImport("two", NOON, NOON + SECOND)).toBeNull();
    const step = { position: 5, recipients: 4, claimedUntil: NOON + SECOND };
    expect(await store.advanceContactImport(first, step)).toBe(true);
    expect(await store.advanceContactImport(first, step)).toBe(false);
    const second = await store.claimContactImport("two", NOON + 2 * SECOND, NOON + 3 * SECOND);
    expect(second).toMatchObject({ position: 5, contactImport: { done: 4 } });
    await store.endContactImport(first, { failure: "AUDIENCE_GONE", at: NOON });
    expect(await store.findContactImport(contactImport)).toMatchObject({ state: "running" });
    if (second) await store.endContactImport(second, { failure: null, at: NOON + 3 * SECOND });
    expect(await store.findContactImport(contactImport)).toMatchObject({
      state: "finished",
      endedAt: NOON + 3 * SECOND,
    });
    expect(await store.claimContactImport("two", NOON + 9 * SECOND, NOON + 10 * SECOND)).toBeNull();
  });
});
