import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { phoneNumber } from "better-auth/plugins";
import createLogtoConnector from "@logto/connector-http-sms";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import type { Hook } from "../support/identity-calls.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

interface View {
  state: string;
  source: string;
  deliverOnly: boolean;
}

/** Identity products from npm, which really run and call this server. */
describe.each(ENGINES)("identity products from npm on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const codeOn = async (number: string): Promise<string> => {
    const [message] = await eventually(
      () => server.onPhone(number),
      (messages) => messages.length > 0,
    );
    return /^\d{4,10}/.exec(message?.text ?? "")?.[0] ?? "";
  };

  test("better-auth signs a user in with a code that Heliograph delivered, and reports its use", async () => {
    const heliograph = async (path: string, body: object): Promise<string> => {
      const answer = await server.request<{ data: string }>("POST", `/v1/verify${path}`, body);
      if (answer.status !== 200) throw new Error(`Heliograph answered ${answer.status}`);
      return answer.body.data;
    };
    const sent = new Map<string, string>();
    const auth = betterAuth({
      baseURL: "http://127.0.0.1:9",
      secret: "kW3qT8vZr1Yb6Nc0Lx5Hd9Gs2Jf7Pm4A",
      telemetry: { enabled: false },
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      plugins: [
        phoneNumber({
          sendOTP: async ({ phoneNumber: to, code }) => {
            const body = { configId: "default", to, code, mode: "deliver", source: "better-auth" };
            sent.set(to, await heliograph("", body));
          },
          callbackOnVerification: async ({ phoneNumber: to }) => {
            await heliograph(`/${sent.get(to) ?? ""}/outcome`, { outcome: "used" });
          },
          signUpOnVerification: { getTempEmail: (to) => `${to.slice(1)}@phone.example` },
        }),
      ],
    });
    const to = "+15550190100";
    await auth.api.sendPhoneNumberOTP({ body: { phoneNumber: to } });
    const code = await codeOn(to.slice(1));
    expect(code).toMatch(/^\d{6}$/);
    await expect(auth.api.verifyPhoneNumber({ body: { phoneNumber: to, code: "000000" } })).rejects.toThrow(/otp/i);
    const signedIn = await auth.api.verifyPhoneNumber({ body: { phoneNumber: to, code } });
    expect(signedIn?.status).toBe(true);
    const view = await eventually(
      async () => (await server.request<View>("GET", `/v1/verify/${sent.get(to) ?? ""}`)).body,
      ({ state }) => state === "verified",
    );
    expect(view).toMatchObject({ state: "verified", source: "better-auth", deliverOnly: true });
  });

  test("the HTTP SMS connector of Logto delivers by its hook, and gets the message of a refusal", async () => {
    const { body } = await server.request<Hook>("POST", "/api/identity-hooks", {
      product: "logto",
      configId: "default",
    });
    const config = { endpoint: body.url, authorization: `Bearer ${body.secret}` };
    const connector = await createLogtoConnector({ getConfig: async () => config });
    const send = (to: string, authorization = config.authorization): Promise<unknown> =>
      connector.sendMessage({ to, type: "SignIn", payload: { code: "739204" } }, { ...config, authorization });
    await send("15550190200");
    expect(await codeOn("15550190200")).toBe("739204");
    const refusal = async (sending: Promise<unknown>): Promise<string> =>
      sending.then(
        () => "sent",
        (error: unknown) => JSON.stringify(error),
      );
    expect(await refusal(send("15550190201", "Bearer wrong"))).toContain("secret or signature is wrong");
    expect(await refusal(send("12"))).toContain("Write the number internationally");
    const { body: list } = await server.request<{ data: View[] }>("GET", "/api/verifications?source=logto");
    expect(list.data).toHaveLength(1);
  });
});
