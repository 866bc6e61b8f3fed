import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CREDENTIAL_KINDS, twilioAccountSid, type CredentialKind } from "../../src/model/credential.ts";
import { ROLES } from "../../src/model/user.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import type { Login } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { FACADE_ROUTES, facadeRequest, type FacadeAttempt, type NamedFacadeRoute } from "../support/facade-routes.ts";
import { onEach } from "../support/on-each.ts";
import { logIn } from "../support/session-user.ts";
import type { Envelope } from "../support/test-server.ts";

/** Isolation and roles of the APIs of other products. The routes are generated: a new one needs an attempt here. */

const NUMBER = "15550176001";
const TEXT = "for the victim's eyes only";
const PASSWORD = "correct horse battery";
const ROUTES = FACADE_ROUTES.filter(({ name }) => name !== "GET /ping");
const NAMED = ROUTES.map((route) => [route.name, route] as const);

/** Secrets of one account that another must not reach. */
interface Loot {
  accountSid: string;
  messageSid: string;
  serviceSid: string;
  verificationSid: string;
}

const kannelSend = { from: "ACME", to: "15550176099", text: "Hello" };
const jasminSend = { from: "ACME", to: "15550176099", content: "Hello" };
const ACCOUNT = "/2010-04-01/Accounts/:accountSid";
const SERVICE = "/v2/Services/:serviceSid";
const sendForm = { To: "+15550176099", From: "ACME", Body: "Hello" };
const ofMessage = ({ accountSid, messageSid }: Loot): FacadeAttempt => ({ params: { accountSid, sid: messageSid } });
const ofVerification = ({ serviceSid, verificationSid }: Loot): FacadeAttempt => ({
  params: { serviceSid, sid: verificationSid },
});

/** A complete request of each route, with data of the first account where it names any. */
const ATTEMPTS: Record<string, (loot: Loot) => FacadeAttempt> = {
  "GET /cgi-bin/sendsms": () => ({ fields: kannelSend }),
  "POST /cgi-bin/sendsms": () => ({ fields: kannelSend }),
  "GET /status": () => ({}),
  "GET /status.txt": () => ({}),
  "GET /status.xml": () => ({}),
  "GET /send": () => ({ fields: jasminSend }),
  "POST /send": () => ({ fields: jasminSend }),
  "GET /rate": () => ({ fields: { to: NUMBER } }),
  "POST /rate": () => ({ fields: { to: NUMBER } }),
  "GET /balance": () => ({}),
  "POST /balance": () => ({}),
  "POST /secure/send": () => ({ json: jasminSend }),
  "POST /secure/sendbatch": () => ({ json: { messages: [jasminSend] } }),
  "GET /secure/rate": () => ({ fields: { to: NUMBER } }),
  "GET /secure/balance": () => ({}),
  [`GET ${ACCOUNT}.json`]: ({ accountSid }) => ({ params: { accountSid } }),
  [`POST ${ACCOUNT}/Messages.json`]: ({ accountSid }) => ({ params: { accountSid }, fields: sendForm }),
  [`GET ${ACCOUNT}/Messages.json`]: ({ accountSid }) => ({ params: { accountSid }, fields: { PageSize: "50" } }),
  [`GET ${ACCOUNT}/Messages/:sid.json`]: ofMessage,
  [`POST ${ACCOUNT}/Messages/:sid.json`]: (loot) => ({ ...ofMessage(loot), fields: { Body: "" } }),
  [`DELETE ${ACCOUNT}/Messages/:sid.json`]: ofMessage,
  [`POST ${SERVICE}/Verifications`]: ({ serviceSid }) => ({
    params: { serviceSid },
    fields: { To: "+15550176098", Channel: "sms" },
  }),
  [`GET ${SERVICE}/Verifications/:sid`]: ofVerification,
  [`POST ${SERVICE}/Verifications/:sid`]: (loot) => ({ ...ofVerification(loot), fields: { Status: "canceled" } }),
  [`POST ${SERVICE}/VerificationCheck`]: ({ serviceSid, verificationSid }) => ({
    params: { serviceSid },
    fields: { VerificationSid: verificationSid, Code: "135790" },
  }),
};

test("every route of every facade has an attempt in this test", () => {
  expect(Object.keys(ATTEMPTS).toSorted()).toEqual(ROUTES.map(({ name }) => name).toSorted());
});

describe.each(ENGINES)("the facades on %s", (engine) => {
  let tenants: Tenants;
  let loot: Loot;
  let intruder: Record<CredentialKind, Login>;
  let intruderAccount: number;

  const createLogin = async (apikey: string, kind: CredentialKind, choices: object = {}): Promise<Login> => {
    const response = await fetch(`${tenants.server.url}/api/credentials`, {
      method: "POST",
      headers: { apikey, "content-type": "application/json" },
      body: JSON.stringify({ kind, name: "Test", ...choices }),
    });
    expect(response.status).toBe(201);
    return (await response.json()) as Login;
  };
  const loginsOf = async (apikey: string, choices: object = {}): Promise<Record<CredentialKind, Login>> =>
    Object.fromEntries(
      await Promise.all(
        CREDENTIAL_KINDS.map(async (kind) => [kind, await createLogin(apikey, kind, choices)] as const),
      ),
    ) as Record<CredentialKind, Login>;
  const ask = async (
    route: NamedFacadeRoute,
    attempt: FacadeAttempt,
    login: Pick<Login, "username" | "password"> | null,
    more: Record<string, string> = {},
  ): Promise<{ status: number; text: string; type: string }> => {
    const { method, path, headers, body } = facadeRequest(route, attempt, login);
    const response = await fetch(tenants.server.url + path, { method, headers: { ...headers, ...more }, body });
    return { status: response.status, text: await response.text(), type: response.headers.get("content-type") ?? "" };
  };
  const attemptOf = ({ name }: NamedFacadeRoute, with_ = loot): FacadeAttempt => ATTEMPTS[name]?.(with_) ?? {};
  /** Addresses of their own: failed logins are counted by address. */
  const from = (place: number): Record<string, string> => ({ "x-forwarded-for": `10.4.${place % 250}.1` });

  beforeAll(async () => {
    tenants = await openTenants(engine);
    const { server } = tenants;
    const added = await tenants.addAccount("intruder");
    intruderAccount = added.accountId;
    intruder = await loginsOf(added.minted.secret);
    const sent = await server.request<Envelope>("POST", "/v1/sms", {
      sender: "HELIOG",
      to: NUMBER,
      text: TEXT,
      type: "TRANS",
    });
    await server.settled(sent.body.data[0]?.messageId ?? "");
    const { body } = await server.request<{ data: { twilioSid: string }[] }>("GET", "/api/verify-configs?name=default");
    const serviceSid = body.data[0]?.twilioSid ?? "";
    const twilio = await createLogin(server.key, "twilio");
    const start = FACADE_ROUTES.find(({ name }) => name === `POST ${SERVICE}/Verifications`);
    const started = start
      ? await ask(
          start,
          { params: { serviceSid }, fields: { To: `+${NUMBER}`, Channel: "sms", CustomCode: "135790" } },
          twilio,
        )
      : { text: "{}" };
    loot = {
      accountSid: twilioAccountSid(1, "live"),
      messageSid: `SM${(sent.body.data[0]?.messageId ?? "").slice(0, 36).replaceAll("-", "")}`,
      serviceSid,
      verificationSid: (JSON.parse(started.text) as { sid: string }).sid,
    };
  });
  afterAll(() => tenants.close());

  const rowsOf = async (accountId: number): Promise<string> => {
    const rows = [];
    for (const table of ["messages", "verifications", "balances", "idempotency", "callbacks"])
      rows.push(await tenants.execute(`select * from ${table} where account_id = ${accountId} order by 1, 2, 3`));
    return JSON.stringify(rows);
  };

  test("a route shows and changes nothing of another account", async () => {
    const { server } = tenants;
    await server.settled(`${await lastVerification()}:1`);
    const before = await rowsOf(1);
    await onEach(NAMED, async ([, route]) => {
      const own = { ...loot, accountSid: twilioAccountSid(intruderAccount, "live") };
      for (const attempt of [attemptOf(route), attemptOf(route, own)]) {
        const { text } = await ask(route, attempt, intruder[route.kind]);
        expect(text).not.toContain(TEXT);
        expect(text).not.toContain(NUMBER);
        expect(text.includes(loot.accountSid) && !text.includes(own.accountSid)).toBe(false);
        expect(await rowsOf(1)).toBe(before);
      }
    });
  });

  const lastVerification = async (): Promise<string> =>
    String(((await tenants.execute("select id from verifications where account_id = 1")) as { id: string }[])[0]?.id);

  test("a missing, wrong, expired and revoked login, and that of another API, get the same refusal and store nothing", async () => {
    const { server } = tenants;
    const valid = await loginsOf(server.key);
    const revoked = await loginsOf(server.key);
    const expired = await loginsOf(server.key, { expiresAt: Date.now() + 60_000 });
    await tenants.execute(
      `update credentials set expires_at = 1 where id in (${Object.values(expired)
        .map(({ id }) => `'${id}'`)
        .join()}) returning id`,
    );
    for (const { id } of Object.values(revoked)) await server.request("DELETE", `/api/credentials/${id}`);
    await tenants.reload();
    const before = await rowsOf(1);
    let place = 0;
    await onEach(NAMED, async ([, route]) => {
      const others = CREDENTIAL_KINDS.filter((kind) => kind !== route.kind).map((kind) => valid[kind]);
      const { username } = valid[route.kind];
      // The username is repeated in some refusals, so all have the same one where they have a wrong password.
      const logins = [{ username, password: "wrong" }, expired[route.kind], revoked[route.kind], ...others];
      const answers = [];
      for (const login of logins) {
        const answer = await ask(route, attemptOf(route), login, from((place += 1)));
        expect([401, 403]).toContain(answer.status);
        answers.push(
          JSON.stringify([
            answer.status,
            answer.type,
            answer.text.replaceAll(login.username.slice(0, 30), "…").replaceAll(/…[0-9a-f]*/g, "…"),
          ]),
        );
      }
      expect(new Set(answers).size).toBe(1);
      const missing = await ask(route, attemptOf(route), null, from((place += 1)));
      expect([400, 401, 403]).toContain(missing.status);
      expect(await rowsOf(1)).toBe(before);
    });
  });

  test("API keys and the sessions of every role open no facade", async () => {
    const { server } = tenants;
    const headers: Record<string, string>[] = [{ apikey: server.key }];
    for (const role of ROLES) {
      const email = `${role}@facades.example`;
      expect((await server.request("POST", "/api/users", { email, role, password: PASSWORD })).status).toBe(201);
      const { cookie, session } = await logIn(server.url, { email, password: PASSWORD });
      headers.push({ cookie, "x-csrf-token": session.csrfToken });
    }
    const before = await rowsOf(1);
    let place = 100;
    await onEach(NAMED, async ([, route]) => {
      for (const each of headers) {
        const { status } = await ask(route, attemptOf(route), null, { ...each, ...from((place += 1)) });
        expect([400, 401, 403]).toContain(status);
      }
      expect(await rowsOf(1)).toBe(before);
    });
  });

  test("a login needs the scope of the route", async () => {
    const senders = await loginsOf(tenants.server.key, { scopes: ["sms"] });
    const readers = await loginsOf(tenants.server.key, { scopes: ["read"] });
    const before = await rowsOf(1);
    const isSend = (route: NamedFacadeRoute): boolean =>
      route.isSend === true && !route.path.includes("/Verifications");
    const isRead = ({ method, path }: NamedFacadeRoute): boolean => method === "GET" && path !== `${ACCOUNT}.json`;
    const sends = ROUTES.filter(isSend);
    const cases = ROUTES.flatMap((route): [string, NamedFacadeRoute, Login][] =>
      isSend(route)
        ? [[route.name, route, readers[route.kind]]]
        : isRead(route)
          ? [[route.name, route, senders[route.kind]]]
          : [],
    );
    expect(sends).toHaveLength(7);
    await onEach(cases, async ([, route, login]) => {
      expect((await ask(route, attemptOf(route), login)).status).toBe(403);
      expect(await rowsOf(1)).toBe(before);
    });
  });

  test("a test login reads and changes nothing live", async () => {
    const logins = await loginsOf(tenants.server.key, { mode: "test" });
    const before = await liveMessages();
    await onEach(NAMED, async ([, route]) => {
      const own = { ...loot, accountSid: logins.twilio.username };
      for (const attempt of [attemptOf(route), attemptOf(route, own)]) {
        const { text } = await ask(route, attempt, logins[route.kind]);
        expect(text).not.toContain(TEXT);
        expect(text).not.toContain(NUMBER);
      }
      expect(await liveMessages()).toBe(before);
    });
  });

  const liveMessages = async (): Promise<string> =>
    JSON.stringify(await tenants.execute("select * from messages where account_id = 1 and test = 0 order by 1, 2, 3"));
});
