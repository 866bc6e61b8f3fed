import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { keyFile, RBM_CLIENT_TOKEN } from "../support/fake-rbm.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

interface Operation {
  requestBody: { content: { "application/json": { examples: Record<string, { value: { name: string } }> } } };
}

const WITH_SECRETS = ["carriers", "webhooks", "dlr-configs"];

/** Connections with secrets, of every adapter and preset that the examples of the reference leave out. */
const CONNECTIONS: Readonly<Record<string, object>> = {
  kannel: {
    adapter: "http",
    http: {
      preset: "kannel",
      baseUrl: "http://kannel.example:13013",
      values: { username: "shop" },
      secrets: { password: "secret" },
    },
  },
  twilio: {
    adapter: "http",
    http: { preset: "twilio", values: { accountSid: "AC1" }, secrets: { authToken: "secret" } },
  },
  sinch: {
    adapter: "http",
    http: { preset: "sinch", values: { servicePlanId: "p" }, secrets: { apiToken: "secret" } },
  },
  vonage: {
    adapter: "http",
    http: { preset: "vonage", values: { apiKey: "k" }, secrets: { apiSecret: "secret" } },
  },
  infobip: {
    adapter: "http",
    http: { preset: "infobip", baseUrl: "https://abc12.api.infobip.com", secrets: { apiKey: "secret" } },
  },
  exotel: {
    adapter: "http",
    http: { preset: "exotel", values: { accountSid: "shop", apiKey: "k" }, secrets: { apiToken: "secret" } },
  },
  msg91: { adapter: "http", http: { preset: "msg91", secrets: { authKey: "secret" } } },
  gupshup: {
    adapter: "http",
    http: { preset: "gupshup", values: { userId: "2000" }, secrets: { password: "secret" } },
  },
  kaleyra: {
    adapter: "http",
    http: { preset: "kaleyra", values: { sid: "HX1", callbackProfileId: "IN_1" }, secrets: { apiKey: "secret" } },
  },
  routemobile: {
    adapter: "http",
    http: { preset: "routemobile", values: { username: "u" }, secrets: { password: "secret" } },
  },
  smsgate: {
    adapter: "http",
    http: { preset: "smsgate", values: { username: "u" }, secrets: { password: "secret" } },
  },
  textbee: {
    adapter: "http",
    http: { preset: "textbee", values: { deviceId: "d" }, secrets: { apiKey: "secret" } },
  },
  httpsms: { adapter: "http", http: { preset: "httpsms", secrets: { apiKey: "secret" } } },
  whatsapp: {
    adapter: "whatsapp",
    whatsapp: {
      token: "secret",
      appSecret: "secret",
      verifyToken: "secret",
      phoneNumberId: "1",
      businessAccountId: "2",
    },
  },
  rbm: {
    adapter: "rbm",
    rbm: { serviceAccount: keyFile("https://oauth2.example/token"), clientToken: RBM_CLIENT_TOKEN },
  },
};

describe.each(ENGINES)("a configuration file on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  test("an exported configuration file can be applied again, and every stored secret stays", async () => {
    const { body: reference } = await server.request<{ paths: Record<string, { post: Operation }> }>(
      "GET",
      "/openapi.json",
    );
    for (const part of WITH_SECRETS) {
      const examples = reference.paths[`/api/${part}`]?.post.requestBody.content["application/json"].examples ?? {};
      expect(Object.keys(examples).length).toBeGreaterThan(0);
      for (const [index, { value }] of Object.values(examples).entries()) {
        const made = await server.request("POST", `/api/${part}`, { ...value, name: `${part}-${index}` });
        expect([part, index, made.status]).toEqual([part, index, 201]);
      }
    }
    for (const [name, connection] of Object.entries(CONNECTIONS))
      expect(await server.request("POST", "/api/carriers", { name, ...connection })).toMatchObject({ status: 201 });
    const stored = async (): Promise<unknown> =>
      (await server.app.store.listCatalog()).map(({ kind, name, content }) => ({ kind, name, content }));
    const before = await stored();
    const { status, body: file } = await server.request<object>("GET", "/api/config");
    expect(status).toBe(200);
    const applied = await server.request("PUT", "/api/config", file);
    expect([applied.status, applied.body]).toEqual([
      200,
      expect.objectContaining({ made: [], changed: [], removed: [] }),
    ]);
    expect(await stored()).toEqual(before);
  });
});
