import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { NO_ACCOUNT, type AuditEntry } from "../../src/model/audit.ts";
import { newUser, type Session, type User } from "../../src/model/user.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { deleteExpired } from "../support/sweeps.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Tests that every engine passes, for users, sessions and the audit log. */
export function userStoreSuite(engine: EngineName): void {
  describe("users", () => {
    let opened: OpenStore;
    let store: Store;
    let accountId: number;
    let owner: User;

    beforeEach(async () => {
      opened = await openStore(engine);
      store = opened.store;
      const first = { id: newId(NOON), email: "owner@example.com", passwordHash: "", role: "owner" } as const;
      const made = await store.createAccount({
        name: "acme",
        createdAt: NOON,
        owner: { ...first, createdAt: NOON },
        keys: [],
        phones: [],
        catalog: [],
      });
      accountId = made ?? 0;
      owner = (await store.findUser(first.email)) as User;
    });
    afterEach(() => opened.discard());

    const person = (change: Partial<User> = {}): User =>
      newUser({
        accountId,
        id: newId(NOON),
        email: `${newId(NOON)}@example.com`,
        passwordHash: "hash",
        role: "owner",
        createdAt: NOON,
        ...change,
      });
    const enter = (of: Session): Promise<boolean> =>
      store.insertSession(of, { passwordHash: of.userId === owner.id ? "" : "hash", totpSecret: null });
    const session = (user: User, change: Partial<Session> = {}): Session => ({
      digest: newId(NOON),
      accountId: user.accountId,
      userId: user.id,
      createdAt: NOON,
      seenAt: NOON,
      address: "",
      agent: "",
      ...change,
    });

    test("the sessions of a user are listed with where they were opened, the latest first", async () => {
      const ann = person();
      await store.insertUser(ann);
      const first = session(ann, { digest: "first", address: "203.0.113.7", agent: "Firefox" });
      const second = session(ann, { digest: "second", createdAt: NOON + 1 });
      for (const each of [first, second, session(owner)]) await enter(each);
      expect(await store.listSessions(ann)).toEqual([second, first]);
      expect(await store.listSessions({ ...ann, accountId: accountId + 1 })).toEqual([]);
    });

    test("an invitation sets a password once, and ends the user's sessions", async () => {
      const ann = person();
      await store.insertUser(ann);
      await enter(session(ann));
      const invitation = { digest: "link", accountId, userId: ann.id, expiresAt: NOON + 1000 };
      await store.invite({ ...invitation, digest: "earlier" }, NOON);
      await store.invite(invitation, NOON);
      expect(await store.findInvitation("earlier")).toBeNull();
      expect(await store.findInvitation("link")).toEqual(invitation);
      const accepted = await Promise.all(["one", "other"].map((hash) => store.acceptInvitation(invitation, hash)));
      expect(accepted.toSorted((a, b) => Number(a) - Number(b))).toEqual([false, true]);
      expect(await store.listSessions(ann)).toEqual([]);
      expect(await store.findInvitation("link")).toBeNull();
      expect(await store.findUserById(ann)).toMatchObject({ passwordDue: false });
      expect(await store.acceptInvitation(invitation, "third")).toBe(false);
    });

    test("expired invitations, and those of a removed user, are deleted", async () => {
      const [ann, ben] = [person(), person({ role: "viewer" })];
      for (const each of [ann, ben]) await store.insertUser(each);
      await store.invite({ digest: "old", accountId, userId: ann.id, expiresAt: NOON + 5 }, NOON);
      await store.invite({ digest: "ben", accountId, userId: ben.id, expiresAt: NOON + 9 }, NOON + 5);
      expect([await store.findInvitation("old"), (await store.findInvitation("ben"))?.userId]).toEqual([null, ben.id]);
      await store.removeUser(ben);
      expect(await store.findInvitation("ben")).toBeNull();
    });

    test("users are stored with all fields, and no two share an address", async () => {
      const ann = person({ email: "ann@example.com", name: "Ann", role: "viewer", passwordDue: true });
      expect(await store.insertUser(ann)).toBe(true);
      expect(await store.insertUser(ann)).toBe(true);
      expect(await store.insertUser(person({ email: "ann@example.com" }))).toBe(false);
      expect(await store.findUser("ann@example.com")).toEqual(ann);
      expect(await store.findUserById(ann)).toEqual(ann);
      expect(await store.findUserById({ ...ann, accountId: accountId + 1 })).toBeNull();
    });

    test("users are listed in pages, separately per account", async () => {
      const others = [person(), person(), person()];
      for (const user of others) await store.insertUser(user);
      const ids = [owner, ...others].map(({ id }) => id).toSorted();
      const first = await store.listUsers(accountId, null, 3);
      const rest = await store.listUsers(accountId, first.next, 3);
      expect([...first.rows, ...rest.rows].map(({ id }) => id)).toEqual(ids);
      expect(rest.next).toBeNull();
      expect((await store.listUsers(accountId + 1, null, 3)).rows).toEqual([]);
    });

    test("the last owner who can log in cannot be removed or demoted", async () => {
      const ann = person({ role: "member" });
      await store.insertUser(ann);
      expect(await store.changeUser(owner, { role: "member" })).toBe("last owner");
      expect(await store.changeUser(owner, { disabled: true })).toBe("last owner");
      expect(await store.removeUser(owner)).toBe("last owner");
      expect(await store.findUserById(owner)).toEqual(owner);
      expect(await store.changeUser(owner, { name: "Boss" })).toBe("changed");
      expect(await store.changeUser(owner, {})).toBe("changed");
      await store.insertUser(person({ disabled: true }));
      expect(await store.removeUser(owner)).toBe("last owner");
      expect(await store.changeUser(ann, { role: "owner" })).toBe("changed");
      expect(await store.removeUser(owner)).toBe("removed");
      expect(await store.removeUser(owner)).toBe("missing");
      expect(await store.changeUser(owner, { name: "Boss" })).toBe("missing");
    });

    test("one of two owners who leave at the same moment stays", async () => {
      const others = [owner, person(), person(), person()];
      for (const user of others.slice(1)) await store.insertUser(user);
      const [first, second, third, fourth] = others as [User, User, User, User];
      const left = await Promise.all([
        store.removeUser(first),
        store.changeUser(second, { role: "viewer" }),
        store.changeUser(third, { disabled: true }),
        store.removeUser(fourth),
      ]);
      expect(left.filter((result) => result === "last owner")).toHaveLength(1);
      const { rows } = await store.listUsers(accountId, null, 10);
      expect(rows.filter(({ role, disabled }) => role === "owner" && !disabled)).toHaveLength(1);
    });

    test("a session is found with its user, and ends with either", async () => {
      const ann = person();
      await store.insertUser(ann);
      const [first, second] = [session(ann), session(ann)];
      await enter(first);
      await enter(second);
      expect(await store.findSession(first.digest)).toEqual({ session: first, user: { ...ann, lastLoginAt: NOON } });
      await store.touchSession(first.digest, NOON + 5);
      await store.touchSession(first.digest, NOON + 4);
      expect((await store.findSession(first.digest))?.session.seenAt).toBe(NOON + 5);
      await store.removeSession(first.digest);
      expect(await store.findSession(first.digest)).toBeNull();
      await store.removeUser(ann);
      expect(await store.findSession(second.digest)).toBeNull();
    });

    test("no session is created with a changed password, even at the moment of its change", async () => {
      const ann = person();
      await store.insertUser(ann);
      const late = session(ann);
      await store.savePassword(ann, { passwordHash: "new", passwordDue: false }, null);
      await enter(late);
      expect(await store.findSession(late.digest)).toBeNull();
      expect((await store.findUserById(ann))?.lastLoginAt).toBeNull();
      for (let round = 0; round < 10; round += 1) {
        const of = session(ann);
        await Promise.all([
          store.insertSession(of, { passwordHash: round === 0 ? "new" : `new ${round - 1}`, totpSecret: null }),
          store.savePassword(ann, { passwordHash: `new ${round}`, passwordDue: false }, null),
        ]);
        expect(await store.findSession(of.digest)).toBeNull();
      }
    });

    test("no session is created by password alone once a second factor is on, even at the moment of the change", async () => {
      for (let round = 0; round < 10; round += 1) {
        const ann = person();
        await store.insertUser(ann);
        await store.beginTotp(ann, "sealed");
        const [of, late, proven] = [session(ann), session(ann), session(ann)];
        const [, on] = await Promise.all([enter(of), store.confirmTotp(ann, "sealed", 7, [], "")]);
        expect(on).toBe(true);
        expect(await store.findSession(of.digest)).toBeNull();
        expect(await enter(late)).toBe(false);
        expect(await store.findSession(late.digest)).toBeNull();
        expect(await store.insertSession(proven, { passwordHash: "hash", totpSecret: "other" })).toBe(false);
        expect(await store.insertSession(proven, { passwordHash: "hash", totpSecret: "sealed" })).toBe(true);
        expect(await store.findSession(proven.digest)).not.toBeNull();
      }
    });

    test("a disabled user has no sessions, even when enabled again", async () => {
      const ann = person();
      await store.insertUser(ann);
      const open = session(ann);
      await enter(open);
      await store.changeUser(ann, { disabled: true });
      const late = session(ann);
      await enter(late);
      await store.changeUser(ann, { disabled: false });
      expect(await store.findSession(open.digest)).toBeNull();
      expect(await store.findSession(late.digest)).toBeNull();
    });

    test("a new password ends every session but the one that changed it", async () => {
      const ann = person();
      await store.insertUser(ann);
      const [own, other, ofOwner] = [session(ann), session(ann), session(owner)];
      for (const each of [own, other, ofOwner]) await enter(each);
      await store.savePassword(ann, { passwordHash: "new", passwordDue: false }, own.digest);
      expect((await store.findSession(own.digest))?.user.passwordHash).toBe("new");
      expect(await store.findSession(other.digest)).toBeNull();
      expect(await store.findSession(ofOwner.digest)).not.toBeNull();
      await store.savePassword(ann, { passwordHash: "newer", passwordDue: true }, null);
      expect(await store.findSession(own.digest)).toBeNull();
      expect(await store.findUserById(ann)).toMatchObject({ passwordHash: "newer", passwordDue: true });
    });

    test("expired sessions are deleted, a bounded number at a time", async () => {
      const unused = [1, 2, 3].map(() => session(owner, { seenAt: NOON - DAY_MS }));
      const old = session(owner, { createdAt: NOON - 8 * DAY_MS });
      const good = session(owner);
      for (const each of [...unused, old, good]) await enter(each);
      const cutoff = { accountId, before: NOON - DAY_MS / 2, alsoBefore: NOON - 7 * DAY_MS };
      expect(await deleteExpired(store, "sessions", cutoff, 3)).toEqual([3, 1]);
      expect(await store.findSession(good.digest)).not.toBeNull();
    });

    test("a second factor counts once it is confirmed, and each time step and code once", async () => {
      await store.beginTotp(owner, "first");
      await store.beginTotp(owner, "second");
      expect(await store.confirmTotp(owner, "first", 7, ["a"], "")).toBe(false);
      expect(await store.findUserById(owner)).toMatchObject({ totpSecret: null, totpNext: "second" });
      expect(await store.confirmTotp(owner, "second", 7, ["a", "b"], "")).toBe(true);
      expect(await store.findUserById(owner)).toMatchObject({ totpSecret: "second", totpNext: null, totpStep: 7 });
      expect(await store.useTotpStep(owner, 7)).toBe(false);
      expect(await store.useTotpStep(owner, 6)).toBe(false);
      const eight = await Promise.all([1, 2, 3].map(() => store.useTotpStep(owner, 8)));
      expect(eight.filter(Boolean)).toHaveLength(1);
      expect(await opened.execute("select * from recovery_codes")).toHaveLength(2);
      const a = await Promise.all([1, 2, 3].map(() => store.useRecoveryCode(owner, "a")));
      expect(a.filter(Boolean)).toHaveLength(1);
      expect(await store.useRecoveryCode(owner, "c")).toBe(false);
      await store.beginTotp(owner, "third");
      expect(await store.findUserById(owner)).toMatchObject({ totpSecret: "second", totpNext: null });
      await store.removeTotp(owner);
      expect(await store.findUserById(owner)).toMatchObject({ totpSecret: null, totpNext: null, totpStep: null });
      expect(await opened.execute("select * from recovery_codes")).toEqual([]);
    });

    test("from the fifth failed login on, the pause doubles from a minute to an hour", async () => {
      let now = NOON;
      const pauses: number[] = [];
      for (let n = 1; n <= 13; n += 1) {
        expect(await store.beginAttempt("ann", now)).toEqual({ failures: n });
        if (n < 5) continue;
        const locked = await store.beginAttempt("ann", now);
        const until = "lockedUntil" in locked ? locked.lockedUntil : 0;
        pauses.push((until - now) / MINUTE_MS);
        expect(await store.beginAttempt("ann", until - 1)).toEqual({ lockedUntil: until });
        now = until;
      }
      expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
      expect(await store.beginAttempt("bob", now)).toEqual({ failures: 1 });
      expect(await store.beginAttempt("ann", now + 2 * DAY_MS)).toEqual({ failures: 1 });
    });

    test("five of many simultaneous logins are checked", async () => {
      const begun = await Promise.all(Array.from({ length: 20 }, () => store.beginAttempt("ann", NOON)));
      const through = begun.flatMap((each) => ("failures" in each ? [each.failures] : []));
      expect(through.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    });

    test("a successful login clears the failed ones, and an undecided one is taken back", async () => {
      for (let n = 1; n <= 4; n += 1) await store.beginAttempt("ann", NOON);
      expect(await store.beginAttempt("ann", NOON)).toEqual({ failures: 5 });
      await store.releaseAttempt("ann");
      expect(await store.beginAttempt("ann", NOON)).toEqual({ failures: 5 });
      await store.clearAttempts(["ann", "bob"]);
      expect(await store.beginAttempt("ann", NOON)).toEqual({ failures: 1 });
      expect(await deleteExpired(store, "loginFailures", { before: NOON })).toEqual([0]);
      expect(await deleteExpired(store, "loginFailures", { before: NOON + 1 })).toEqual([1]);
    });

    const entry = (at: number, change: Partial<AuditEntry> = {}): AuditEntry => ({
      accountId,
      id: newId(at),
      actor: { kind: "user", id: owner.id, name: owner.email },
      action: "POST /api/keys",
      kind: "keys",
      recordId: "1",
      recordName: "Shop",
      fields: ["name"],
      address: "203.0.113.7",
      ...change,
    });

    test("audit entries are listed newest first, by user, action and time", async () => {
      const byKey = { kind: "key", id: newId(NOON), name: "Shop" } as const;
      const entries = [
        entry(NOON),
        entry(NOON + 1, { actor: byKey }),
        entry(NOON + 2, { action: "login", kind: "session", recordId: null, recordName: null, fields: [] }),
        entry(NOON + 3, { accountId: accountId + 1 }),
      ];
      for (const each of entries) await store.writeAudit(each);
      await store.writeAudit(entry(NOON, { id: entries[0]?.id ?? "" }));
      const [first, second, third] = entries;
      const listed = async (filter: Parameters<Store["listAudit"]>[1]) =>
        (await store.listAudit(accountId, filter, null, 10)).rows;
      expect(await listed({})).toEqual([third, second, first]);
      expect(await listed({ who: byKey.id })).toEqual([second]);
      expect(await listed({ who: owner.email })).toEqual([third, first]);
      expect(await listed({ what: "keys" })).toEqual([second, first]);
      expect(await listed({ what: "login" })).toEqual([third]);
      expect(await listed({ from: NOON + 1, to: NOON + 2 })).toEqual([second]);
      const page = await store.listAudit(accountId, { what: "keys" }, null, 1);
      expect(page.rows).toEqual([second]);
      expect(await store.listAudit(accountId, { what: "keys" }, page.next, 1)).toMatchObject({ rows: [first] });
    });

    test("audit entries are deleted in time, those without a user too", async () => {
      for (let at = NOON; at < NOON + 5; at += 1) await store.writeAudit(entry(at));
      await store.writeAudit(entry(NOON, { accountId: NO_ACCOUNT }));
      expect(await deleteExpired(store, "audit", { accountId, before: NOON + 3 }, 2)).toEqual([2, 1]);
      expect((await store.listAudit(accountId, {}, null, 10)).rows).toHaveLength(2);
      expect(await deleteExpired(store, "audit", { accountId: NO_ACCOUNT, before: NOON + 3 }, 2)).toEqual([1]);
    });
  });
}
