import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../../src/model/verification.ts";
import { createLogin } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import type { Answer, ErrorBody } from "../support/test-server.ts";

interface Otp {
  data: string | null;
  message: string;
  error: ErrorBody | null;
}

interface View {
  state: string;
  source: string | null;
  deliverOnly: boolean;
}

const LIFE_MS = 5 * MINUTE_MS;

let lastNumber = 15_550_900_000;
/** A number in a prefix of its own. */
const freshNumber = (): string => String((lastNumber += 10_000));

/** The stored hash of a request's body, as anybody can compute it who guesses the code. */
const plainHash = (body: object): string => createHash("sha256").update(JSON.stringify(body)).digest("base64url");

describe.each(ENGINES)("codes that another product made, on %s", (engine) => {
  let server: MovedClockServer;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
  });
  afterAll(() => server.close());

  const start = (fields: object, headers?: Record<string, string>): Promise<Answer<Otp>> =>
    server.request("POST", "/v1/verify", { configId: "default", to: freshNumber(), ...fields }, headers);
  const report = (id: string, outcome: string): Promise<Answer<Otp>> =>
    server.request("POST", `/v1/verify/${id}/outcome`, { outcome });
  const viewOf = async (id: string): Promise<View> => (await server.request<View>("GET", `/v1/verify/${id}`)).body;
  const conversion = () => server.app.store.countConversion(1, server.clock.now());

  async function delivered(): Promise<string> {
    const { status, body } = await start({ code: "739204", mode: "deliver" });
    expect(status).toBe(200);
    return body.data ?? "";
  }

  /** Everything that the database has on disk or in its tables. */
  async function stored(): Promise<string> {
    const dataDir = server.env["HELIOGRAPH_DATA_DIR"] ?? "";
    const files =
      engine === "sqlite" ? (await readdir(dataDir)).filter((name) => name.startsWith("heliograph.db")) : [];
    const bytes = await Promise.all(files.map((file) => readFile(join(dataDir, file), "latin1")));
    return [...bytes, await idempotencyRows()].join("\n");
  }

  const idempotencyRows = async (): Promise<string> =>
    JSON.stringify(await server.rows("select path, key, body_hash, response from idempotency"));

  test("a code sent with an idempotency key cannot be found by trying all codes", async () => {
    const body = { configId: "default", to: freshNumber(), code: "Zq7739204", mode: "deliver" };
    const headers = { "idempotency-key": `sign-in-${engine}` };
    const first = await start(body, headers);
    const again = await start(body, headers);
    expect([first.status, again.body.data]).toEqual([200, first.body.data]);
    expect((await start({ ...body, code: "Zq7739205" }, headers)).body.error?.code).toBe("IDEMPOTENCY_MISMATCH");
    // The simulated phone has the code, so only the rows are searched for it.
    expect(await idempotencyRows()).not.toContain(body.code);
    const text = await stored();
    expect(text.includes(`sign-in-${engine}`)).toBe(true);
    expect(text.includes(plainHash(body))).toBe(false);
  });

  test("a code of a Twilio client with an idempotency token cannot be found either", async () => {
    const { username, password } = await createLogin(server, "twilio");
    const configs = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/verify-configs");
    const id = configs.body.data.find(({ name }) => name === "default")?.id ?? "";
    const to = freshNumber();
    const send = (code: string): Promise<Response> =>
      fetch(`${server.url}/v2/Services/VA${id.replaceAll("-", "")}/Verifications`, {
        method: "POST",
        headers: {
          authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
          "i-twilio-idempotency-token": `twilio-${engine}`,
        },
        body: new URLSearchParams({ To: `+${to}`, Channel: "sms", CustomCode: code }),
      });
    const first = await send("Yk4881733");
    expect(first.status).toBe(201);
    expect(await (await send("Yk4881733")).text()).toBe(await first.text());
    expect(await idempotencyRows()).not.toContain("Yk4881733");
    const text = await stored();
    expect(text.includes(`twilio-${engine}`)).toBe(true);
    expect(text.includes(plainHash({ to, channel: "sms", code: "Yk4881733" }))).toBe(false);
  });

  test("a body stored by an earlier version is recognised", async () => {
    const body = { configId: "default", to: freshNumber(), code: "5150", mode: "deliver" };
    const headers = { "idempotency-key": `upgraded-${engine}` };
    const { data } = (await start(body, headers)).body;
    await server.rows(
      `update idempotency set body_hash = '${plainHash(body)}' where key = '${headers["idempotency-key"]}'`,
    );
    expect((await start(body, headers)).body.data).toBe(data);
  });

  test("a verification shows which product made its code, and that it is checked elsewhere", async () => {
    expect(await viewOf(await delivered())).toMatchObject({ source: "api", deliverOnly: true });
    const named = await start({ code: "739204", source: "better-auth" });
    expect(await viewOf(named.body.data ?? "")).toMatchObject({ source: "better-auth", deliverOnly: false });
    const own = await start({});
    expect(await viewOf(own.body.data ?? "")).toMatchObject({ source: null, deliverOnly: false });
    const list = await server.request<{ data: { verifyId: string; source: string }[] }>(
      "GET",
      "/api/verifications?source=better-auth",
    );
    expect(list.body.data.map(({ verifyId, source }) => [verifyId, source])).toEqual([
      [named.body.data, "better-auth"],
    ]);
  });

  test.each([["Better"], ["-x"], [""], ["x".repeat(41)], [5]])("the source %j is refused", async (source) => {
    expect((await start({ code: "739204", source })).body.error?.parameter).toBe("source");
  });

  test("a source without a code is refused", async () => {
    expect((await start({ source: "supabase" })).body.error?.parameter).toBe("source");
  });

  test("the use of a code is accepted until an hour after its expiry, and counts once", async () => {
    const id = await delivered();
    const before = await conversion();
    await server.travel(LIFE_MS + HOUR_MS - MINUTE_MS);
    expect((await viewOf(id)).state).toBe("expired");
    const answers = await Promise.all([report(id, "used"), report(id, "used"), report(id, "used")]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await viewOf(id)).state).toBe("verified");
    expect((await conversion()).verified).toBe(before.verified + 1);
  });

  test("the use of a code that was sent to be checked here, or later than an hour, is refused", async () => {
    const late = await delivered();
    await server.travel(LIFE_MS + HOUR_MS - MINUTE_MS);
    const checkedHere = (await start({ code: "739204" })).body.data ?? "";
    await server.travel(LIFE_MS + MINUTE_MS);
    for (const id of [late, checkedHere]) expect((await report(id, "used")).body.error?.code).toBe("OTP_EXPIRED");
  });

  test("an expired code never passes a check, even while its use can be reported", async () => {
    const id = await delivered();
    await server.travel(LIFE_MS + MINUTE_MS);
    const check = await server.request<Otp>("POST", "/v1/verify/validate", { verifyId: id, otp: "739204" });
    expect(check.body.error?.code).toBe("OTP_EXPIRED");
  });

  test("a late report pays the debt of the prefix like a timely one", async () => {
    await server.request("PATCH", "/api/account", { limits: "everywhere" });
    const to = freshNumber();
    const owed = async (): Promise<unknown> =>
      (await server.rows<{ owed: number }>(`select owed from verify_prefixes where prefix = '${to.slice(0, -4)}'`))[0]
        ?.owed;
    const { body } = await start({ to, code: "739204", mode: "deliver" });
    expect(await owed()).toBe(1);
    await server.travel(LIFE_MS + MINUTE_MS);
    await Promise.all([report(body.data ?? "", "used"), report(body.data ?? "", "used")]);
    expect(await owed()).toBe(-4);
    await server.request("PATCH", "/api/account", { limits: "real carriers" });
  });

  test("the text is in the language of the request, also by a later channel, with its autofill line", async () => {
    const name = `languages-${engine}`;
    const config = await server.request("POST", "/api/verify-configs", {
      name,
      text: "{code} is your code.",
      texts: { hi: "{code} आपका कोड है।", "pt-BR": "{code} é o seu código.", pt: "{code} é o código." },
      webOtpDomain: "example.com",
      channels: [
        { channel: "sms", from: "HELIOG", waitSeconds: 20 },
        { channel: "sms", from: "HELIOG" },
      ],
    });
    expect(config.status).toBe(201);
    const textsOf = async (locale: string | undefined, waitMs = 0): Promise<string[]> => {
      const to = freshNumber();
      expect((await start({ configId: name, to, code: "739204", ...(locale && { locale }) })).status).toBe(200);
      await server.settle();
      if (waitMs > 0) for (const ms of [waitMs, 5000]) await server.travel(ms);
      return (await server.onPhone(to)).map(({ text }) => text);
    };
    expect(await textsOf("pt_BR")).toEqual(["739204 é o seu código.\n@example.com #739204"]);
    expect(await textsOf("pt-PT")).toEqual(["739204 é o código.\n@example.com #739204"]);
    expect(await textsOf("de-AT")).toEqual(["739204 is your code.\n@example.com #739204"]);
    expect(await textsOf(undefined)).toEqual(["739204 is your code.\n@example.com #739204"]);
    const chaos = (await server.request<object>("GET", "/api/simulator/chaos")).body;
    await server.request("PUT", "/api/simulator/chaos", { ...chaos, delayMs: 60_000 });
    const twice = await textsOf("hi-IN", 21_000);
    await server.request("PUT", "/api/simulator/chaos", chaos);
    expect(new Set(twice)).toEqual(new Set(["739204 आपका कोड है।\n@example.com #739204"]));
    expect(twice).toHaveLength(2);
  });

  test.each([["p"], ["pt--BR"], [""], [5], ["../pt"]])("the locale %j is refused", async (locale) => {
    expect((await start({ locale })).body.error?.parameter).toBe("locale");
  });

  test.each([
    [{ hi: "no place for it" }, "texts.hi"],
    [{ "not a tag": "{code}" }, "texts"],
  ])("the texts %j are refused, and the fault names the place", async (texts, parameter) => {
    const { status, body } = await server.request<Otp>("POST", "/api/verify-configs", { name: "wrong", texts });
    expect({ status, parameter: body.error?.parameter }).toEqual({ status: 400, parameter });
  });
});
