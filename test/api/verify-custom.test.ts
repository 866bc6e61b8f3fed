import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { SCOPES } from "../../src/model/api-key.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import type { Answer, ErrorBody } from "../support/test-server.ts";

interface Otp {
  data: string | null;
  message: string;
  error: ErrorBody | null;
}

let lastNumber = 15_550_700_000;
/** A number that no other test uses. */
const freshNumber = (): string => String((lastNumber += 1));

describe.each(ENGINES)("codes that a product makes itself, on %s", (engine) => {
  let tenants: Tenants;
  let withoutCustom: Record<string, string>;
  let testKey: Record<string, string>;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    withoutCustom = {
      apikey: (await tenants.addKey(1, { scopes: SCOPES.filter((scope) => scope !== "verify:custom") })).secret,
    };
    testKey = { apikey: (await tenants.addKey(1, { scopes: ["verify", "verify:custom"] }, "test")).secret };
    await tenants.reload();
  });
  afterAll(() => tenants.close());

  const request = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    tenants.server.request("POST", path, body, headers);
  const start = (fields: object, headers?: Record<string, string>): Promise<Answer<Otp>> =>
    request("/v1/verify", { configId: "default", to: freshNumber(), ...fields }, headers);
  const report = (id: string, outcome: unknown, headers?: Record<string, string>): Promise<Answer<Otp>> =>
    request(`/v1/verify/${id}/outcome`, { outcome }, headers);
  const stateOf = async (id: string): Promise<string> =>
    (await tenants.server.request<{ state: string }>("GET", `/v1/verify/${id}`)).body.state;

  async function delivered(): Promise<string> {
    const { status, body } = await start({ code: "739204", mode: "deliver" });
    expect({ status, error: body.error }).toEqual({ status: 200, error: null });
    return body.data ?? "";
  }

  test("the code of the request is on the phone, and verifies", async () => {
    const to = freshNumber();
    const { body } = await start({ to, code: "Ab73" });
    const id = body.data ?? "";
    await tenants.server.settled(`${id}:1`);
    expect((await tenants.server.onPhone(to)).map(({ text }) => text)).toEqual([
      "Ab73 is your verification code. It is valid for 5 minutes.",
    ]);
    expect((await request("/v1/verify/validate", { verifyId: id, otp: "Ab74" })).status).toBe(400);
    expect((await request("/v1/verify/validate", { verifyId: id, otp: "Ab73" })).status).toBe(200);
  });

  test.each([["123"], ["12345678901"], ["12 456"], ["12-456"], [""], [123_456], [null], ["१२३४५६"]])(
    "the code %j is refused, and names the field",
    async (code) => {
      const { status, body } = await start({ code });
      expect({ status, parameter: body.error?.parameter }).toEqual({ status: 400, parameter: "code" });
    },
  );

  test("a mode other than deliver, and deliver without a code, are refused", async () => {
    expect((await start({ mode: "check", code: "739204" })).body.error?.parameter).toBe("mode");
    expect((await start({ mode: "deliver" })).body.error?.parameter).toBe("code");
  });

  test("a code of the caller needs the scope verify:custom", async () => {
    expect((await start({}, withoutCustom)).status).toBe(200);
    for (const fields of [{ code: "739204" }, { code: "739204", mode: "deliver" }]) {
      const { status, body } = await start(fields, withoutCustom);
      expect({ status, code: body.error?.code }).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    }
    const id = await delivered();
    expect((await report(id, "used", withoutCustom)).status).toBe(403);
    expect(await stateOf(id)).toBe("pending");
  });

  test("a used code is verified and counts as converted, also when the report is repeated", async () => {
    const conversion = () => tenants.server.app.store.countConversion(1, Date.now());
    const id = await delivered();
    const before = await conversion();
    const reports = await Promise.all([report(id, "used"), report(id.toUpperCase(), "used"), report(id, "used")]);
    expect(reports.map(({ status, body }) => ({ status, body }))).toEqual(
      reports.map(() => ({ status: 200, body: { data: id, message: "OTP Outcome Recorded!", error: null } })),
    );
    expect(await stateOf(id)).toBe("verified");
    expect((await conversion()).verified).toBe(before.verified + 1);
    expect((await report(id, "not-used")).body.error?.code).toBe("OTP_ALREADY_VERIFIED");
  });

  test("a code that was not used ends, and cannot be used later", async () => {
    const id = await delivered();
    expect((await report(id, "not-used")).status).toBe(200);
    expect((await report(id, "not-used")).status).toBe(200);
    expect(await stateOf(id)).toBe("cancelled");
    expect((await report(id, "used")).body.error?.code).toBe("OTP_EXPIRED");
    expect((await request("/v1/verify/validate", { verifyId: id, otp: "739204" })).status).toBe(410);
  });

  test("the outcome of an unknown code, or of one of the other mode, is 404 and changes nothing", async () => {
    const id = await delivered();
    for (const [other, headers] of [
      [newId(Date.now()), {}],
      ["no-uuid", {}],
      [id, testKey],
    ] as const) {
      const { status, body } = await report(other, "used", headers);
      expect({ status, code: body.error?.code }).toEqual({ status: 404, code: "VERIFICATION_NOT_FOUND" });
    }
    expect(await stateOf(id)).toBe("pending");
  });

  test.each([["yes"], [true], [null], [undefined]])(
    "the outcome %j is refused, and names the field",
    async (outcome) => {
      const id = await delivered();
      const { status, body } = await report(id, outcome);
      expect({ status, parameter: body.error?.parameter }).toEqual({ status: 400, parameter: "outcome" });
      expect(await stateOf(id)).toBe("pending");
    },
  );

  test("a code of the caller is neither in the store's text nor on the message", async () => {
    const code = "Qx7Zk2Lm";
    const { body } = await start({ code, mode: "deliver" });
    const message = await tenants.server.settled(`${body.data}:1`);
    expect(JSON.stringify(message)).not.toContain(code);
  });
});
