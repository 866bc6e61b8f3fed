import { mkdtemp } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { isPersonal, roleOf, type PersonalRoute, type ProtectedRoute } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import type { Role } from "../../src/model/account.ts";
import { mayAs, ROLES } from "../../src/model/user.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { uploadMedia } from "../support/media-files.ts";
import { onEach } from "../support/on-each.ts";
import { insertAlert } from "../support/stored-alert.ts";
import { insertBind } from "../support/stored-bind.ts";
import type { ErrorBody } from "../support/test-server.ts";
import { insertLinks } from "../support/links.ts";
import { requestAnonymously, logIn, type SessionUser } from "../support/session-user.ts";
import { openSink } from "../support/sink.ts";

const PROTECTED = ROUTES.filter((route): route is ProtectedRoute => route.scope !== null);
const PERSONAL = ROUTES.filter(isPersonal);
const nameOf = ({ method, path }: Pick<ProtectedRoute, "method" | "path">): string => `${method} ${path}`;
const named = <T extends ProtectedRoute | PersonalRoute>(routes: readonly T[]) =>
  routes.map((route) => [nameOf(route), route] as const);

const PASSWORD = "correct horse battery";
const NUMBERS = {
  recipient: "15550166001",
  optedOut: "15550166002",
  business: "15550166003",
  verified: "15550166004",
  test: "15550166005",
  inText: "15550166006",
};
const TEXT = `Call +1 (555) 016-6006 or ${NUMBERS.inText}`;
const CODES = { ofTestNumber: "123456", inText: "739184" };
const NOWHERE = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** Only an owner decides about these; everything else follows from the method. */
const OWNERS = [
  "GET /v1/contacts/:number/export",
  "GET /api/users",
  "GET /api/users/:id",
  "POST /api/users",
  "PATCH /api/users/:id",
  "POST /api/users/:id/reset-password",
  "POST /api/users/:id/invite",
  "DELETE /api/users/:id",
  "GET /api/audit",
  "POST /api/keys",
  "PATCH /api/keys/:id",
  "DELETE /api/keys/:id",
  "POST /api/keys/:id/rotate",
  "POST /api/credentials",
  "PATCH /api/credentials/:id",
  "DELETE /api/credentials/:id",
  "POST /api/identity-hooks",
  "PATCH /api/identity-hooks/:id",
  "DELETE /api/identity-hooks/:id",
  "POST /api/carriers",
  "PATCH /api/carriers/:id",
  "DELETE /api/carriers/:id",
  "POST /api/carriers/:id/send",
  "POST /api/prices",
  "PATCH /api/prices/:id",
  "DELETE /api/prices/:id",
  "POST /api/credits",
  "PATCH /api/account",
  "PUT /api/config",
];

/** Operations closed to viewers: they concern the whole service, or a code. */
const MEMBERS = new Set(["GET /api/system", "GET /api/simulator/otp/latest"]);

/** Routes that show a planted number to a member. */
const SHOWING_NUMBERS = [
  "GET /v1/messages",
  "GET /v1/messages/:messageId",
  "GET /v1/inbound",
  "GET /v1/inbound/:id",
  "GET /v1/events",
  "GET /v1/audiences",
  "GET /v1/audiences/:id/recipients",
  "GET /v1/conversations",
  "GET /v1/conversations/:id",
  "GET /v1/conversations/:id/messages",
  "GET /v1/contacts",
  "GET /v1/contacts/:number",
  "GET /v1/campaigns",
  "GET /v1/campaigns/:id",
  "GET /v1/campaigns/:id/report",
  "GET /api/messages",
  "GET /api/messages/:messageId",
  "GET /api/campaigns",
  "GET /api/canned-replies",
  "GET /api/canned-replies/:id",
  "GET /api/numbers",
  "GET /api/verify-configs",
  "GET /api/webhooks",
  "GET /api/optouts",
  "GET /api/optouts/:number",
  "GET /api/credits/ledger",
  "GET /api/links",
  "GET /api/config",
  "GET /api/simulator/phones",
  "GET /api/simulator/phones/:number/messages",
  "GET /api/simulator/messages/wait",
  "GET /api/simulator/events",
  "GET /api/live",
];

/** Routes that show a planted code to a member. */
const SHOWING_CODES = [
  "GET /v1/messages",
  "GET /api/messages",
  "GET /api/verify-configs",
  "GET /api/config",
  "GET /api/simulator/phones/:number/messages",
  "GET /api/simulator/messages/wait",
  "GET /api/simulator/events",
];

/** Routes that show a member how an endpoint's request is signed. */
const SHOWING_SIGNATURES = [
  "GET /api/webhooks/:id/preview",
  "GET /api/dlr-configs/:id/preview",
  "GET /api/callbacks/:id",
];

const isForMembers = (route: ProtectedRoute): boolean => route.method !== "GET" || MEMBERS.has(nameOf(route));

test("reading needs a viewer, changing a member, and the listed operations an owner", () => {
  const expected = PROTECTED.map((route) => [
    nameOf(route),
    OWNERS.includes(nameOf(route)) ? "owner" : isForMembers(route) ? "member" : "viewer",
  ]);
  expect(PROTECTED.map((route) => [nameOf(route), roleOf(route)])).toEqual(expected);
  expect(PROTECTED.map(nameOf)).toEqual(expect.arrayContaining(OWNERS));
});

test("a route under /api is for keys and users, for users, or is the login", () => {
  const open = ROUTES.filter((route) => route.path.startsWith("/api/") && route.scope === null && !isPersonal(route));
  expect(open.map(nameOf)).toEqual(["POST /api/session", "POST /api/invitations/accept"]);
});

describe.each(ENGINES)("roles on %s", (engine) => {
  let tenants: Tenants;
  const people = {} as Record<Role | "stranger", SessionUser>;
  /** Paths with ids that exist, by route. */
  const real: Record<string, string> = {};

  beforeAll(async () => {
    const folder = await mkdtemp(join(inject("scratchFolder"), "media-"));
    tenants = await openTenants(engine, undefined, { env: { HELIOGRAPH_MEDIA_DIR: folder } });
    const { server } = tenants;
    await fill();
    for (const role of ROLES) people[role] = await personOf(server.key, role, `${role}@example.com`, from(role));
    const { minted } = await tenants.addAccount("stranger");
    people.stranger = await personOf(minted.secret, "owner", "other@example.com", from("stranger"));
    for (const route of PROTECTED) if (route.method === "GET") real[nameOf(route)] = await realPath(route);
  });
  afterAll(() => tenants.close());

  async function personOf(
    apikey: string,
    role: Role,
    email: string,
    headers: Record<string, string>,
  ): Promise<SessionUser> {
    const body = { email, role, password: PASSWORD };
    const made = await requestAnonymously(tenants.server.url, "POST", "/api/users", body, { apikey });
    expect(made.status).toBe(201);
    return logIn(tenants.server.url, { email, password: PASSWORD }, headers);
  }

  /** One of everything that holds a number. */
  let erasureId = "";

  async function fill(): Promise<void> {
    const { server } = tenants;
    const { recipient, optedOut, business, verified, test: testNumber } = NUMBERS;
    const sink = await openSink();
    await server.request("POST", "/api/dlr-configs", { name: "reports", url: sink.url });
    const hook = { channel: "sms", url: sink.url, events: ["user_message"] };
    await server.request("POST", "/api/webhooks", { ...hook, name: `hook ${recipient}` });
    await server.request("POST", "/api/numbers", { name: `+${business}`, title: "Mine" });
    const config = { name: "signup", testNumbers: [{ number: testNumber, code: CODES.ofTestNumber }] };
    expect((await server.request("POST", "/api/verify-configs", config)).status).toBe(201);
    await server.request("POST", "/api/verify-rules", { name: "99890", action: "block" });
    const credential = { kind: "kannel", name: "gateway" };
    const { body: gateway } = await server.request<{ id: string }>("POST", "/api/credentials", credential);
    await insertBind(server, gateway.id);
    await insertAlert(server, 1);
    await server.request("POST", "/api/alert-rules", { name: "slow", alert: "queue_age" });
    await server.request("POST", "/api/identity-hooks", { product: "okta", configId: "signup" });
    await server.request("POST", "/api/carriers", { name: "line" });
    await server.request("POST", "/api/routes", { name: "r", carrier: "line", enabled: false });
    await server.request("POST", "/api/prices", { name: "p", prefix: "3598", creditsPerSegment: 9 });
    await server.asOwner("POST", "/api/credits", { amount: 5, note: `from +${optedOut}` });
    await server.request("POST", "/api/optouts", { numbers: [optedOut, "15550166012"], note: `asked by ${recipient}` });
    const sent = await server.send({ to: recipient, text: TEXT, campaignName: `of ${recipient}` });
    await server.settled(sent.body.data[0]?.messageId ?? "");
    const own = await server.send({ to: recipient, text: `${CODES.inText} is your code`, type: "OTP" });
    await server.settled(own.body.data[0]?.messageId ?? "");
    await server.request("POST", `/api/simulator/phones/${recipient}/reply`, { to: "HELIOG", text: TEXT });
    const code = await server.request<{ data: string }>("POST", "/v1/verify", { configId: "signup", to: verified });
    await server.settled(`${code.body.data}:1`);
    const file = `phone,note\n${recipient},${TEXT}\n`;
    const audience = await server.request<{ id: string }>("POST", "/v1/audiences", {
      name: `of ${recipient}`,
      size: file.length,
    });
    const audiencePath = `/v1/audiences/${audience.body.id}`;
    await server.request("POST", `${audiencePath}/parts`, { offset: 0, text: file });
    await eventually(
      () => server.request<{ state: string }>("GET", audiencePath),
      ({ body }) => body.state === "ready",
    );
    await uploadMedia(server);
    await server.request("PUT", `/v1/contacts/${recipient}`, { name: `Ada ${recipient}` });
    await server.request("POST", "/v1/contact-imports", { audienceId: audience.body.id });
    await server.request("POST", "/api/segments", { name: "everybody" });
    const removal = "/v1/contacts/15550166099?erase=true";
    const { body: erased } = await server.request<{ erasure: { id: string } }>("DELETE", removal);
    erasureId = erased.erasure.id;
    await server.request("POST", "/api/canned-replies", { name: "thanks", text: `Call ${recipient}` });
    await server.request("POST", "/v1/campaigns", {
      name: `to ${recipient}`,
      type: "TRANS",
      sender: "HELIOG",
      text: TEXT,
      audienceId: audience.body.id,
    });
    const told = () => server.request<{ data: { state: string }[] }>("GET", "/api/callbacks?state=delivered");
    await eventually(told, ({ body }) => body.data.length >= 2);
    await insertLinks(tenants.execute, { targets: [`https://shop.example/${recipient}`] });
    await sink.close();
  }

  /** A path at which something real is to be seen. */
  async function realPath({ path, method }: ProtectedRoute): Promise<string> {
    const { server } = tenants;
    const firstOf = async (list: string, field: string): Promise<string> => {
      const { body } = await server.request<{ data: Record<string, string>[] }>("GET", list);
      const found = body.data.map((row) => row[field]).find((value) => typeof value === "string");
      if (found === undefined) throw new Error(`${method} ${path}: nothing to be seen at ${list}`);
      return encodeURIComponent(found);
    };
    const listOf = path.replace(/\/:.*$/, "");
    if (path.endsWith("/:messageId")) return path.replace(":messageId", await firstOf(listOf, "messageId"));
    if (path.endsWith("/:verifyId")) return path.replace(":verifyId", await firstOf("/api/verifications", "verifyId"));
    if (path.startsWith("/v1/erasures/")) return path.replace(":id", erasureId);
    if (path.startsWith("/api/optouts/")) return path.replace(":number", NUMBERS.optedOut);
    if (path.includes(":number")) return path.replace(":number", NUMBERS.recipient);
    if (path.endsWith("/wait")) return `${path}?to=${NUMBERS.recipient}&timeout=0`;
    if (path.endsWith("/stats/breakdown")) return `${path}?by=carrier`;
    if (path.endsWith("/otp/latest")) return `${path}?to=${NUMBERS.verified}`;
    return path.includes(":id") ? path.replace(":id", await firstOf(listOf, "id")) : path;
  }

  const from = (who: string): Record<string, string> => ({ "x-forwarded-for": `10.2.0.${who.length}` });

  /** A path that reaches the route and no record, with a body that changes nothing. */
  const emptyAttempt = ({ method, path }: ProtectedRoute | PersonalRoute): [string, string, unknown] => [
    method,
    path
      .replace(":number", "15550166099")
      .replaceAll(/:\w+/g, NOWHERE)
      .replace(/\/wait$/, "/wait?timeout=0"),
    method === "GET" || method === "DELETE" ? undefined : {},
  ];

  test("a protected route refuses requests without credentials and with an ended session", () =>
    onEach(named(PROTECTED), async ([name, route]) => {
      const [method, path, body] = emptyAttempt(route);
      const address = { "x-forwarded-for": `10.3.0.${PROTECTED.indexOf(route)}` };
      const nobody = await read(tenants.server.url, method, path, body, address);
      expect([name, nobody.status, nobody.code]).toEqual([name, 401, "UNAUTHORIZED"]);
      const gone = { ...address, cookie: `heliograph_session=${"a".repeat(43)}`, "x-csrf-token": "a" };
      const ended = await read(tenants.server.url, method, path, body, gone);
      expect([name, ended.status, ended.code]).toEqual([name, 401, "LOGIN_REQUIRED"]);
    }));

  test("a personal route refuses requests without a session, and every API key", () =>
    onEach(named(PERSONAL), async ([name, route]) => {
      const [method, path, body] = emptyAttempt(route);
      for (const headers of [{}, { apikey: tenants.server.key }, { cookie: "heliograph_session=none" }]) {
        const answer = await read(tenants.server.url, method, path, body, headers);
        expect([name, answer.status, answer.code]).toEqual([name, 401, "LOGIN_REQUIRED"]);
      }
    }));

  const cases = PROTECTED.flatMap((route) => ROLES.map((role) => [nameOf(route), role, route] as const));
  const may = ([, role, route]: (typeof cases)[number]): boolean => mayAs(role, roleOf(route));
  const knock = (role: Role, route: ProtectedRoute): Promise<Read> => {
    const [method, path, body] = emptyAttempt(route);
    const { cookie, session } = people[role];
    const token = { "x-csrf-token": session.csrfToken };
    return read(tenants.server.url, method, path, body, { cookie, ...token, ...from(role) });
  };

  test("a route accepts the sessions of every role that may use it", () =>
    onEach(cases.filter(may), async ([name, role, route]) => {
      const { status, text } = await knock(role, route);
      expect([name, [401, 403].includes(status), status < 500, text]).toEqual([name, false, true, text]);
    }));

  test("a route refuses the sessions of every role that may not use it", () =>
    onEach(
      cases.filter((each) => !may(each)),
      async ([name, role, route]) => {
        const { status, code } = await knock(role, route);
        expect([name, status, code]).toEqual([name, 403, "INSUFFICIENT_ROLE"]);
      },
    ));

  const changing = [...PROTECTED, ...PERSONAL].filter(({ method }) => method !== "GET");
  test("a route that changes something needs the CSRF token of the session, for every role", () =>
    onEach(named(changing), async ([name, route]) => {
      const [method, path, body] = emptyAttempt(route);
      for (const role of ROLES) {
        const { cookie } = people[role];
        const answer = await read(tenants.server.url, method, path, body, { cookie, ...from(role) });
        expect([name, answer.status, answer.code]).toEqual([name, 403, "CSRF_REFUSED"]);
      }
    }));

  const reading = PROTECTED.filter((route) => route.method === "GET" && roleOf(route) === "viewer");
  const look = (role: Role, name: string): Promise<Read> =>
    read(tenants.server.url, "GET", real[name] ?? "", undefined, {
      cookie: people[role].cookie,
      "last-event-id": "00000000-0000-7000-8000-000000000000",
      ...from(role),
    });

  test("a route that reads shows a viewer no whole phone number", () =>
    onEach(named(reading), async ([name]) => {
      const { status, text } = await look("viewer", name);
      expect([name, status]).toEqual([name, 200]);
      for (const number of Object.values(NUMBERS)) expect(text).not.toContain(number);
      expect(text.replaceAll(/\D/g, " ")).not.toMatch(/555 +016/);
    }));

  test.each(SHOWING_NUMBERS)("%s shows a member the numbers that a viewer sees masked", async (name) => {
    const [viewer, member] = [await look("viewer", name), await look("member", name)];
    expect(Object.values(NUMBERS).filter((number) => member.text.includes(number))).not.toEqual([]);
    expect(viewer.text).toMatch(/\*{5,}600\d/);
  });

  test("a viewer searches by the last four digits, which are shown, and not by more of a masked number", async () => {
    const ending = (digits: number): string => `/api/messages?recipientEnding=${NUMBERS.recipient.slice(-digits)}`;
    type Found = { data?: object[]; error?: { parameter: string } };
    const four = await people.viewer.request<Found>("GET", ending(4));
    expect([four.status, four.body.data?.length]).toEqual([200, expect.any(Number)]);
    expect(four.body.data).not.toEqual([]);
    const five = await people.viewer.request<Found>("GET", ending(5));
    expect([five.status, five.body.error?.parameter]).toEqual([400, "recipientEnding"]);
    expect((await people.member.request<Found>("GET", ending(5))).status).toBe(200);
  });

  test("a viewer does not search texts, whose masked numbers and codes could be found out letter by letter", async () => {
    for (const list of ["/v1/messages", "/api/messages", "/api/message-count"]) {
      const refused = await people.viewer.request<{ error?: { parameter: string } }>("GET", `${list}?text=code+is+K`);
      expect([list, refused.status, refused.body.error?.parameter]).toEqual([list, 400, "text"]);
      expect((await people.member.request("GET", `${list}?text=code+is+K`)).status).toBe(200);
    }
  });

  test("a route that reads shows a viewer no code and no valid signature", () =>
    onEach(named(reading), async ([name]) => {
      const latest = await people.member.request<{ otp: string }>(
        "GET",
        `/api/simulator/otp/latest?to=${NUMBERS.verified}`,
      );
      expect(latest.status).toBe(200);
      const { status, text } = await look("viewer", name);
      expect([name, status]).toEqual([name, 200]);
      for (const code of [latest.body.otp, ...Object.values(CODES)])
        expect(text).not.toMatch(new RegExp(`\\b${code}\\b`));
      expect(text).not.toMatch(/v1,[\w+/]{20}/);
    }));

  test.each(SHOWING_CODES)("%s shows a member the code that is masked for a viewer", async (name) => {
    const { status, text } = await look("member", name);
    expect([name, status]).toEqual([name, 200]);
    expect(Object.values(CODES).filter((code) => text.includes(code))).not.toEqual([]);
  });

  test("a viewer sees no code on the phone that received it", async () => {
    const latest = `/api/simulator/otp/latest?to=${NUMBERS.verified}`;
    const { otp } = (await people.member.request<{ otp: string }>("GET", latest)).body;
    expect(otp).toMatch(/^\d{6}$/);
    for (const path of [
      `/api/simulator/phones/${NUMBERS.verified}/messages`,
      `/api/simulator/messages/wait?to=${NUMBERS.verified}&timeout=0`,
    ]) {
      const [viewer, member] = [await people.viewer.request("GET", path), await people.member.request("GET", path)];
      expect([viewer.status, member.status]).toEqual([200, 200]);
      expect(JSON.stringify(member.body)).toContain(otp);
      expect(JSON.stringify(viewer.body)).not.toContain(otp);
      expect(JSON.stringify(viewer.body)).toContain("****** is your verification code");
    }
  });

  test.each(SHOWING_SIGNATURES)("%s shows a member the signature that is masked for a viewer", async (name) => {
    const [viewer, member] = [await look("viewer", name), await look("member", name)];
    expect([viewer.status, member.status]).toEqual([200, 200]);
    expect(member.text).toMatch(/"webhook-signature":"v1,[\w+/]{20}/);
    expect(viewer.text).toContain('"webhook-signature":"***"');
  });

  test("a viewer pages through numbers without seeing one", async () => {
    const first = await people.viewer.request<Listing>("GET", "/api/optouts?limit=1");
    expect(first.body.data).toMatchObject([{ number: "*******6002" }]);
    expect(first.body.nextCursor).toMatch(/^v1\./);
    const second = await people.viewer.request<Listing>("GET", `/api/optouts?limit=1&cursor=${first.body.nextCursor}`);
    expect(second.body.data).toMatchObject([{ number: "*******6012" }]);
    const wrong = await people.viewer.request("GET", "/api/optouts?cursor=v1.abc");
    expect(wrong.status).toBe(400);
    const members = await people.member.request<Listing>("GET", "/api/optouts?limit=1");
    expect(members.body.nextCursor).toBe(NUMBERS.optedOut);
  });

  test("a route that reads shows the owner of another account nothing", () =>
    onEach(named(PROTECTED.filter(({ method }) => method === "GET")), async ([name]) => {
      const path = real[name] ?? "";
      const { cookie } = people.stranger;
      const answer = await read(tenants.server.url, "GET", path, undefined, { cookie, ...from("stranger") });
      expect([path, answer.status < 500]).toEqual([path, true]);
      for (const number of Object.values(NUMBERS)) expect(answer.text).not.toContain(number);
      for (const own of ["owner@example.com", "admin@localhost", people.owner.session.user.id])
        expect(answer.text).not.toContain(own);
      expect([name, answer.status]).toEqual([name, /:(id|messageId|verifyId)$/.test(name) ? 404 : answer.status]);
    }));

  /** The route that reads the record; unmatched receipts have none, as they are only listed. */
  const readerOf = ({ path }: { path: string }): string => `GET ${path.replace(/:id.*$/, ":id")}`;
  const readable = new Set(PROTECTED.map(nameOf));
  /** A callback shows its request as it would be signed at that moment. */
  const withoutTime = (body: unknown): unknown =>
    JSON.parse(JSON.stringify(body).replaceAll(/"webhook-(?:timestamp|signature)":"[^"]*"/g, '"then":""'));

  test("a route that changes a record changes nothing for the owner of another account", () =>
    onEach(
      named(changing.filter((route) => route.path.includes(":id") && readable.has(readerOf(route)))),
      async ([name, route]) => {
        const readPath = real[readerOf(route)] ?? "";
        expect(readPath).not.toBe("");
        const path = route.path.replace(/^.*:id/, readPath);
        const before = await people.owner.request("GET", readPath);
        const [example = {}] = Object.values(route.requestExamples ?? {});
        const body = route.method === "DELETE" ? undefined : example;
        const answer = await people.stranger.request(route.method, path, body);
        expect([name, answer.status]).toEqual([name, 404]);
        const after = await people.owner.request("GET", readPath);
        expect(withoutTime(after.body)).toEqual(withoutTime(before.body));
      },
    ));

  test("a member's session sends as a live key does, and a viewer's does not", async () => {
    const body = { sender: "HELIOG", to: "15550166020", text: "Hello", type: "TRANS" };
    const sent = await people.member.request<{ data: { messageId: string }[] }>("POST", "/v1/sms", body);
    expect(sent.status).toBe(200);
    const { messageId } = sent.body.data[0] ?? { messageId: "" };
    expect(await tenants.server.settled(messageId)).toMatchObject({ status: "Delivered", test: false });
    expect((await people.viewer.request("POST", "/v1/sms", body)).status).toBe(403);
  });

  test("a changed role counts from the next request on", async () => {
    const email = "changing@example.com";
    const person = await personOf(tenants.server.key, "viewer", email, { "x-forwarded-for": "10.2.1.1" });
    const optOut = { number: "15550166021" };
    expect((await person.request("POST", "/api/optouts", optOut)).status).toBe(403);
    const path = `/api/users/${person.session.user.id}`;
    expect((await people.owner.request("PATCH", path, { role: "member" })).status).toBe(200);
    expect((await person.request("POST", "/api/optouts", optOut)).status).toBe(200);
    expect((await people.owner.request("PATCH", path, { disabled: true })).status).toBe(200);
    expect((await person.request("GET", "/api/optouts")).status).toBe(401);
  });

  test("a suspended account refuses its users too, who can still read their own session", async () => {
    await tenants.execute("update accounts set suspended = 1 where name = 'stranger'");
    await tenants.reload();
    const refused = await people.stranger.request<{ error: ErrorBody }>("GET", "/api/account");
    expect([refused.status, refused.body.error.code]).toEqual([403, "ACCOUNT_SUSPENDED"]);
    expect((await people.stranger.request("GET", "/api/session")).status).toBe(200);
    await tenants.execute("update accounts set suspended = 0 where name = 'stranger'");
    await tenants.reload();
  });
});

interface Listing {
  data: { number: string }[];
  nextCursor: string | null;
}

interface Read {
  status: number;
  code: string | null;
  text: string;
}

const EVENTS_READ_MS = 500;

/** A request as bytes; of a stream of events, what comes at once. */
function read(
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Read> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<Read>();
  const request = httpRequest(url + path, {
    method,
    agent: false,
    headers: {
      ...headers,
      ...(content !== undefined && {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(content),
      }),
    },
  });
  request.on("error", reject);
  request.on("response", (response) => {
    let text = "";
    const finish = (): void => resolve({ status: response.statusCode ?? 0, code: codeIn(text), text });
    response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    response.on("end", finish).on("error", finish).on("close", finish);
    if (response.headers["content-type"] === "text/event-stream") setTimeout(() => response.destroy(), EVENTS_READ_MS);
  });
  request.end(content);
  return promise;
}

const codeIn = (text: string): string | null => /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? null;
