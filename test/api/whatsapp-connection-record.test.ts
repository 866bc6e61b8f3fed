import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SecretFactory } from "../../src/records/record-type.ts";
import { number } from "../../src/records/types/number.ts";
import { whatsappConnection, type WhatsappFields } from "../../src/records/types/whatsapp-connection.ts";
import { shapeChecker } from "../../src/lib/shape.ts";
import { Problem, type Fault } from "../../src/model/problem.ts";
import {
  decryptedWhatsappConnection,
  WHATSAPP_DEFAULTS,
  type WhatsappConnectionSettings,
} from "../../src/model/whatsapp-connection.ts";
import { ENGINES } from "../support/engines.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";

const TOKEN = "EAAG-correct-horse";
const secrets: SecretFactory = {
  generate: () => "made",
  encrypt: (text) => `sealed(${text})`,
  decrypt: (sealed) => sealed.slice("sealed(".length, -1),
};
const checkShape = shapeChecker(whatsappConnection.requestSchema);

/** The connection that a request creates, or the faulty fields. */
function line(
  fields: WhatsappFields,
  before: WhatsappConnectionSettings | null = null,
): WhatsappConnectionSettings | string[] {
  const faults: Fault[] = [];
  const shape = checkShape(fields);
  if (shape.length > 0) return shape.map(({ parameter }) => `whatsapp.${parameter}`);
  const read = whatsappConnection.read(fields, before, faults);
  if (faults.length > 0) return faults.map(({ parameter }) => parameter);
  try {
    return whatsappConnection.complete(read, before, secrets);
  } catch (error) {
    if (error instanceof Problem) return error.faults.map(({ parameter }) => parameter);
    throw error;
  }
}

function made(fields: WhatsappFields, before: WhatsappConnectionSettings | null = null): WhatsappConnectionSettings {
  const result = line(fields, before);
  if (Array.isArray(result)) throw new Error(`refused: ${result.join(", ")}`);
  return result;
}

describe("a WhatsApp connection record", () => {
  test("a WhatsApp connection record uses the platform's own URL by default", () => {
    const stored = made({ token: TOKEN });
    expect(whatsappConnection.show(stored)).toEqual(WHATSAPP_DEFAULTS);
    expect(stored.secrets).toEqual({ token: `sealed(${TOKEN})`, appSecret: null, verifyToken: null });
  });

  test("a WhatsApp connection record is decrypted with its secrets, and with defaults for newer settings", () => {
    const stored = made({ token: TOKEN, appSecret: "app", verifyToken: "mine", connections: 7 });
    const { responseSeconds: _, ...older } = stored;
    expect(decryptedWhatsappConnection(older as WhatsappConnectionSettings, secrets.decrypt)).toEqual({
      settings: { ...WHATSAPP_DEFAULTS, connections: 7 },
      secrets: { token: TOKEN, appSecret: "app", verifyToken: "mine" },
    });
  });

  test("a change keeps the fields it does not name", () => {
    const before = made({ token: TOKEN, appSecret: "app", authentication: { header: "D360-API-KEY", scheme: "" } });
    const after = made({ authentication: { scheme: "Key" }, verifyToken: "mine", connections: 3 }, before);
    expect(after).toMatchObject({ authentication: { header: "D360-API-KEY", scheme: "Key" }, connections: 3 });
    expect(after.secrets).toEqual({ ...before.secrets, verifyToken: "sealed(mine)" });
  });

  test("each secret is changed alone, and removed where allowed", () => {
    const before = made({ token: TOKEN, appSecret: "app", verifyToken: "mine" });
    expect(made({ token: "EAAG-next" }, before).secrets.token).toBe("sealed(EAAG-next)");
    expect(made({ appSecret: null }, before).secrets).toMatchObject({ appSecret: null, verifyToken: "sealed(mine)" });
  });

  test("a WhatsApp connection record shows no secret", () => {
    const shown = JSON.stringify(
      whatsappConnection.show(made({ token: TOKEN, appSecret: "app-1", verifyToken: "mine-1" })),
    );
    for (const secret of [TOKEN, "app-1", "mine-1", "sealed"]) expect(shown).not.toContain(secret);
  });

  test("a WhatsApp connection record needs its token once, and again when its URL changes", () => {
    expect(line({})).toEqual(["whatsapp.token"]);
    const before = made({ token: TOKEN });
    for (const baseUrl of ["https://mine.example", "http://graph.facebook.com", "https://graph.facebook.com:444"]) {
      expect(line({ baseUrl }, before)).toEqual(["whatsapp.token"]);
      expect(made({ baseUrl, token: TOKEN }, before).baseUrl).toBe(baseUrl);
    }
    expect(made({ baseUrl: "https://graph.facebook.com/", version: "v25.0" }, before).version).toBe("v25.0");
  });

  test.each<[WhatsappFields, string]>([
    [{ baseUrl: "graph.facebook.com" }, "whatsapp.baseUrl"],
    [{ baseUrl: "ftp://graph.facebook.com" }, "whatsapp.baseUrl"],
    [{ baseUrl: "https://me:secret@graph.facebook.com" }, "whatsapp.baseUrl"],
    [{ baseUrl: "https://graph.facebook.com?x=1" }, "whatsapp.baseUrl"],
    [{ version: "26" }, "whatsapp.version"],
    [{ version: "v26.0/.." }, "whatsapp.version"],
    [{ phoneNumberId: "../1" }, "whatsapp.phoneNumberId"],
    [{ phoneNumberId: "+15550100199" }, "whatsapp.phoneNumberId"],
    [{ businessAccountId: "" }, "whatsapp.businessAccountId"],
    [{ authentication: { header: "Host" } }, "whatsapp.authentication.header"],
    [{ authentication: { header: "X: y\r\nZ" } }, "whatsapp.authentication.header"],
    [{ authentication: { scheme: "Bearer\r\n" } }, "whatsapp.authentication.scheme"],
    [{ token: "" }, "whatsapp.token"],
    [{ token: "a b" }, "whatsapp.token"],
    [{ token: "a\r\nb" }, "whatsapp.token"],
    [{ appSecret: "" }, "whatsapp.appSecret"],
    [{ verifyToken: "" }, "whatsapp.verifyToken"],
    [{ connections: 0 }, "whatsapp.connections"],
    [{ responseSeconds: 0 }, "whatsapp.responseSeconds"],
    [{ phoneNumberID: "1" } as WhatsappFields, "whatsapp.phoneNumberID"],
  ])("a WhatsApp connection record with %j is refused by field", (fields, parameter) => {
    expect(line({ token: TOKEN, ...fields })).toEqual([parameter]);
  });
});

test("a business number stored before there were ids shows none", () => {
  expect(number.show?.({ title: "Shop" })).toEqual({ title: "Shop", phoneNumberId: null });
});

describe.each(ENGINES)("a business number on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  interface NumberBody {
    id: string;
    phoneNumberId: string | null;
    error: ErrorBody;
  }

  test("a business number has the platform's id, if configured", async () => {
    const ask = (method: string, path: string, body?: object) =>
      server.request<NumberBody>(method, `/api/numbers${path}`, body);
    const { status, body } = await ask("POST", "", { name: "+15550100177", phoneNumberId: "106540352242922" });
    expect([status, body.phoneNumberId]).toEqual([201, "106540352242922"]);
    expect((await ask("PATCH", `/${body.id}`, { title: "Shop" })).body.phoneNumberId).toBe("106540352242922");
    expect((await ask("PATCH", `/${body.id}`, { phoneNumberId: null })).body.phoneNumberId).toBeNull();
    const wrong = await ask("PATCH", `/${body.id}`, { phoneNumberId: "../1" });
    expect([wrong.status, wrong.body.error.parameter]).toEqual([400, "phoneNumberId"]);
    const plain = await ask("POST", "", { name: "+15550100178" });
    expect(plain.body.phoneNumberId).toBeNull();
  });
});
