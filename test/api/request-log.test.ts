import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { logIn, type SessionUser } from "../support/session-user.ts";
import type { ErrorBody, TestServer } from "../support/test-server.ts";

interface Logged {
  actor: { kind: string; id: string; name: string };
  test: boolean;
  method: string;
  path: string;
  status: number;
  code: string | null;
  requestId: string | null;
  durationMs: number;
  body: unknown;
}

interface Log {
  data: Logged[];
  node: number;
  nodes: number;
  omitted: number;
  nextCursor: string | null;
}

const PASSWORD = "correct horse battery";
const SECRET_TEXT = "the code is 739184, Mrs. Verysecret";
const PHONE = "15550155001";

describe.each(ENGINES)("the request log on %s", (engine) => {
  let tenants: Tenants;
  let server: TestServer;

  const read = async (query = "", headers: Record<string, string> = {}): Promise<Log> => {
    const answer = await server.request<Log>("GET", `/api/requests${query}`, undefined, headers);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  /** A response can reach the client before its entry is written. */
  const readUntil = (query: string, isThere: (log: Log) => boolean, headers = {}): Promise<Log> =>
    eventually(() => read(query, headers), isThere);
  const userOf = async (role: string): Promise<SessionUser> => {
    const email = `${role}-${engine}@example.com`;
    const made = await server.asOwner<{ user: { id: string } }>("POST", "/api/users", {
      email,
      role,
      password: PASSWORD,
    });
    expect(made.status).toBe(201);
    const user = await logIn(server.url, { email, password: PASSWORD });
    await user.request("PATCH", "/api/session/password", { current: PASSWORD, next: `${PASSWORD} staple` });
    return logIn(server.url, { email, password: `${PASSWORD} staple` });
  };

  beforeAll(async () => {
    tenants = await openTenants(engine);
    ({ server } = tenants);
  });
  afterAll(() => tenants.close());

  test("an error is found by its request id, with status, code, duration and the shape of its body", async () => {
    const { body } = await server.request<{ error: ErrorBody }>("POST", "/v1/sms", {
      to: PHONE,
      text: SECRET_TEXT,
      recipents: [PHONE],
      [PHONE]: true,
    });
    const { data } = await readUntil(`?requestId=${body.error.requestId}`, (log) => log.data.length > 0);
    expect(data).toEqual([
      expect.objectContaining({
        method: "POST",
        path: "/v1/sms",
        status: 400,
        code: body.error.code,
        requestId: body.error.requestId,
        test: false,
        body: {
          to: "string(11)",
          text: `string(${SECRET_TEXT.length})`,
          recipents: ["string(11)"],
          "(other name)": true,
        },
      }),
    ]);
    expect(data[0]?.durationMs).toBeGreaterThanOrEqual(0);
  });

  test("no text, number, name or secret of a body is in the log", async () => {
    await server.send({ to: PHONE, text: SECRET_TEXT });
    const missing = await server.request("GET", `/api/optouts/${PHONE}?to=${PHONE}&${PHONE}=1`);
    expect(missing.status).toBe(404);
    await server.asOwner("PATCH", "/api/session/password", { current: "a wrong password", next: "12345678901" });
    const log = await readUntil("?limit=200", ({ data }) => data.some(({ path }) => path === "/api/optouts/:number"));
    const text = JSON.stringify(log);
    for (const secret of [SECRET_TEXT, "Verysecret", "739184", PHONE, "a wrong password", "12345678901", server.key])
      expect(text).not.toContain(secret);
    // The length of a password is a secret, too.
    expect(text).toContain('"current":"string"');
  });

  test("a request that its key may not make is in the log of the key", async () => {
    const key = await tenants.addKey(1, { scopes: ["sms"], name: "narrow" });
    const headers = { apikey: key.secret };
    const refused = await server.request<{ error: ErrorBody }>("GET", "/v1/messages", undefined, headers);
    expect(refused.body.error.code).toBe("INSUFFICIENT_SCOPE");
    const { data } = await readUntil(`?requestId=${refused.body.error.requestId}`, (log) => log.data.length > 0);
    expect(data[0]).toMatchObject({ status: 403, path: "/v1/messages", actor: { kind: "key" } });
    const sent = await server.request<{ error: ErrorBody }>("POST", "/v1/rcs", {}, headers);
    await readUntil(`?requestId=${sent.body.error.requestId}`, (log) => log.data[0]?.code === "INSUFFICIENT_SCOPE");
  });

  test("filters, limit and cursor select rows, and a wrong one is named", async () => {
    for (let n = 0; n < 3; n += 1) expect((await server.request("GET", "/v1/messages/none")).status).toBe(404);
    await readUntil("?result=error&code=MESSAGE_NOT_FOUND", ({ data }) => data.length === 3);
    expect((await read("?result=success")).data.every(({ code }) => code === null)).toBe(true);
    const first = await read("?code=MESSAGE_NOT_FOUND&limit=2");
    expect(first.data).toHaveLength(2);
    const second = await read(`?code=MESSAGE_NOT_FOUND&limit=2&cursor=${first.nextCursor}`);
    expect([second.data.length, second.nextCursor]).toEqual([1, null]);
    const wrong = await server.request<{ error: ErrorBody }>("GET", "/api/requests?requestId=x&result=y&cursor=z");
    expect(wrong.body.error.details.map(({ parameter }) => parameter)).toEqual(["requestId", "result", "cursor"]);
    expect((await read()).nodes).toBe(1);
  });

  test("a test key sees only requests of test keys, and another account sees none", async () => {
    const older = { apikey: (await tenants.addKey(1, { scopes: ["read", "manage"] }, "test")).secret };
    expect((await server.request("GET", "/v1/messages/none", undefined, older)).status).toBe(404);
    const { data } = await readUntil(
      "",
      (log) => log.data.some(({ path }) => path === "/v1/messages/:messageId"),
      older,
    );
    expect(data.length).toBeGreaterThan(0);
    expect(data.every((row) => row.test)).toBe(true);
    const other = { apikey: (await tenants.addAccount("elsewhere")).minted.secret };
    const own = await readUntil("?limit=200", (log) => log.data.length > 0, other);
    expect(own.data.every(({ path }) => path === "/api/requests")).toBe(true);
  });

  test("a user's requests are for that user and for owners, a key's also for viewers", async () => {
    const [member, viewer] = [await userOf("member"), await userOf("viewer")];
    const refused = await member.request<{ error: ErrorBody }>("POST", "/v1/sms", { to: PHONE });
    const query = `/api/requests?requestId=${refused.body.error.requestId}`;
    const rowsOf = async (user: SessionUser): Promise<number> =>
      (await user.request<Log>("GET", query)).body.data.length;
    await eventually(
      () => rowsOf(member),
      (rows) => rows === 1,
    );
    expect(await rowsOf(viewer)).toBe(0);
    expect((await server.asOwner<Log>("GET", query)).body.data).toHaveLength(1);
    const all = await viewer.request<Log>("GET", "/api/requests?limit=200");
    expect(all.body.data.some(({ actor }) => actor.kind === "key")).toBe(true);
    const own = viewer.session.user.id;
    expect(all.body.data.every(({ actor }) => actor.kind === "key" || actor.id === own)).toBe(true);
  });

  test("a busy key keeps its errors, and its further successes are counted", async () => {
    const before = (await read()).omitted;
    const failed = await server.request<{ error: ErrorBody }>("POST", "/v1/sms", {});
    for (let count = 0; count < 300; count += 1)
      expect((await server.request("GET", "/v1/messages?limit=1")).status).toBe(200);
    const log = await read("?limit=200");
    expect(log.omitted).toBeGreaterThan(before);
    expect(log.data.filter(({ code }) => code === null).length).toBeLessThanOrEqual(200);
    expect((await read(`?requestId=${failed.body.error.requestId}`)).data).toHaveLength(1);
  });
});
