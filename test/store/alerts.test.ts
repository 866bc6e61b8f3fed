import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertNotice } from "../../src/store/alerts.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";

const MINUTE_MS = 60_000;

const newAlert = (fields: Partial<Alert> = {}): Alert => ({
  accountId: 1,
  id: newId(NOON),
  rule: "usual:carrier_down",
  ruleName: "Carrier down",
  alert: "carrier_down",
  subject: "north",
  subjectName: "north",
  state: "open",
  value: 2,
  threshold: 2,
  openedAt: NOON,
  resolvedAt: null,
  acknowledgedAt: null,
  acknowledgedBy: null,
  mutedUntil: null,
  ...fields,
});

const resolved = (alert: Alert): Alert => ({ ...alert, state: "resolved", resolvedAt: NOON + 1000 });

/** One callback and one e-mail. */
function noticeOf(alert: Alert): AlertNotice {
  const { id, ruleName, alert: kind, subject, subjectName, state, value, threshold } = alert;
  const facts = { id, ruleName, alert: kind, subject, subjectName, state, value, threshold };
  return {
    callbacks: [
      {
        accountId: 1,
        eventId: newId(NOON),
        endpointId: "01a1dd78-3676-7224-83f6-72b3f0428a1a",
        happening: { kind: "alert", at: NOON, alert: facts },
        attempts: 0,
      },
    ],
    recipients: ["ada@example.com"],
    at: NOON,
  };
}

describe.each(ENGINES)("stored alerts on %s", (engine) => {
  let opened: OpenStore;
  beforeEach(async () => {
    opened = await openStore(engine);
  });
  afterEach(() => opened.discard());

  const stored = async (): Promise<{ states: (string | undefined)[]; mails: string[] }> => {
    const callbacks = await opened.store.listEvents(1, null, 100);
    const rows = (await opened.execute("select state from alert_mails order by state")) as { state: string }[];
    return {
      states: callbacks.map(({ happening }) => (happening.kind === "alert" ? happening.alert.state : undefined)),
      mails: rows.map(({ state }) => state),
    };
  };

  test("of nodes that open the same alert one succeeds, with one event and one e-mail", async () => {
    const alerts = Array.from({ length: 4 }, () => newAlert());
    const results = await Promise.all(alerts.map((alert) => opened.store.openAlert(alert, noticeOf(alert))));
    expect(results.filter(Boolean)).toHaveLength(1);
    expect((await opened.store.listOpenAlerts(1)).map(({ id }) => id)).toEqual([alerts[results.indexOf(true)]?.id]);
    expect((await opened.store.listAlerts(1, {}, null, 10)).rows).toHaveLength(1);
    expect(await stored()).toEqual({ states: ["open"], mails: ["open"] });
  });

  test("an alert that is opened again after a lost response counts as opened", async () => {
    const alert = newAlert();
    expect(await opened.store.openAlert(alert, noticeOf(alert))).toBe(true);
    expect(await opened.store.openAlert(alert, noticeOf(alert))).toBe(true);
    expect(await stored()).toEqual({ states: ["open"], mails: ["open"] });
  });

  test("of nodes that resolve the same alert one sends an event, and the alert can open again", async () => {
    const alert = newAlert();
    await opened.store.openAlert(alert, { callbacks: [], recipients: [], at: NOON });
    const end = resolved(alert);
    await Promise.all([1, 2, 3].map(() => opened.store.resolveAlert(end, noticeOf(end))));
    expect(await stored()).toEqual({ states: ["resolved"], mails: ["resolved"] });
    expect(await opened.store.listOpenAlerts(1)).toEqual([]);
    expect(await opened.store.findAlert(alert)).toEqual(end);
    expect(await opened.store.openAlert(newAlert(), noticeOf(alert))).toBe(true);
  });

  test("alerts of another rule, subject or account are others", async () => {
    const others = [newAlert(), newAlert({ subject: "south" }), newAlert({ rule: "own" }), newAlert({ accountId: 2 })];
    for (const alert of others) expect(await opened.store.openAlert(alert, noticeOf(alert))).toBe(true);
    expect(await opened.store.listOpenAlerts(1)).toHaveLength(3);
    expect(await opened.store.findAlert({ accountId: 2, id: others[0]?.id ?? "" })).toBeNull();
  });

  test("a mute covers later alerts of the rule and subject until it ends", async () => {
    const first = newAlert();
    await opened.store.openAlert(first, noticeOf(first));
    await opened.store.muteAlert(first, NOON + MINUTE_MS);
    expect(await opened.store.findMute(first, NOON)).toBe(NOON + MINUTE_MS);
    expect(await opened.store.findMute(first, NOON + MINUTE_MS)).toBeNull();
    expect(await opened.store.findMute({ ...first, subject: "south" }, NOON)).toBeNull();
    await opened.store.resolveAlert(resolved(first), noticeOf(first));
    const second = newAlert({ id: newId(NOON + 1) });
    await opened.store.openAlert(second, noticeOf(second));
    await opened.store.muteAlert(first, null);
    expect(await opened.store.findMute(first, NOON)).toBeNull();
  });

  test("the first acknowledgement stays", async () => {
    const alert = newAlert();
    await opened.store.openAlert(alert, noticeOf(alert));
    await opened.store.acknowledgeAlert(alert, "ada", NOON + 1);
    await opened.store.acknowledgeAlert(alert, "bob", NOON + 2);
    expect(await opened.store.findAlert(alert)).toMatchObject({ acknowledgedBy: "ada", acknowledgedAt: NOON + 1 });
  });

  test("lists are read page by page, newest first, of one state or of all", async () => {
    for (let n = 0; n < 5; n += 1) {
      const alert = newAlert({ id: newId(NOON + n), subject: `carrier ${n}` });
      await opened.store.openAlert(alert, noticeOf(alert));
      if (n < 2) await opened.store.resolveAlert(resolved(alert), noticeOf(alert));
    }
    for (const [state, count] of [
      ["open", 3],
      ["resolved", 2],
      [undefined, 5],
    ] as const) {
      const subjects: string[] = [];
      let after: string | null = null;
      do {
        const page = await opened.store.listAlerts(1, { ...(state && { state }) }, after, 2);
        subjects.push(...page.rows.map(({ subject }) => subject));
        after = page.next;
      } while (after !== null);
      expect(subjects).toHaveLength(count);
      expect(subjects).toEqual(subjects.toSorted().toReversed());
    }
  });

  test("an e-mail is claimed by one node, and again after its pause until it is ended", async () => {
    const alert = newAlert();
    await opened.store.openAlert(alert, noticeOf(alert));
    const until = NOON + MINUTE_MS;
    const claims = await Promise.all([1, 2, 3].map(() => opened.store.claimAlertMail(NOON, until)));
    const mail = claims.find((each) => each !== null);
    expect(claims.filter((each) => each !== null)).toHaveLength(1);
    expect(mail).toMatchObject({ alertId: alert.id, state: "open", recipient: "ada@example.com", attempts: 1 });
    expect(await opened.store.claimAlertMail(until - 1, until)).toBeNull();
    const again = await opened.store.claimAlertMail(until, until + MINUTE_MS);
    expect(again).toMatchObject({ attempts: 2 });
    if (again) await opened.store.endAlertMail(again);
    expect(await opened.store.claimAlertMail(until + MINUTE_MS, until)).toBeNull();
  });

  describe("sightings of a carrier", () => {
    const note = (isUp: boolean, at: number) => opened.store.noteCarriers([{ carrier: "1/north", isUp }], NOON + at);
    const sighting = async () => {
      const seen = (await opened.store.listCarrierSightings()).get("1/north");
      return seen && [seen.upSince === null ? null : seen.upSince - NOON, seen.lastUpAt - NOON, seen.seenAt - NOON];
    };

    test("keep since when it is up, over any number of nodes that see it up", async () => {
      await note(true, 0);
      await note(false, 4000);
      await note(true, 5000);
      expect(await sighting()).toEqual([0, 5000, 5000]);
    });

    test("keep when it was up last while every node sees it down", async () => {
      await note(true, 0);
      for (let at = 5000; at <= 60_000; at += 5000) await note(false, at);
      expect(await sighting()).toEqual([0, 0, 60_000]);
      await note(true, 65_000);
      expect(await sighting()).toEqual([65_000, 65_000, 65_000]);
    });

    test("do not count the time in which no node ran as down", async () => {
      await note(true, 0);
      await note(false, 10_000);
      await note(false, 3_610_000);
      expect(await sighting()).toEqual([0, 3_600_000, 3_610_000]);
    });

    test("begin as down since the first look", async () => {
      await note(false, 0);
      await note(false, 5000);
      expect(await sighting()).toEqual([null, 0, 5000]);
    });
  });
});
