import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { bot } from "../../src/records/types/bot.ts";
import {
  completeRbmConnection,
  rbmRequestSchema,
  rbmResponseSchema,
  parseRbmConnection,
  showRbmConnection,
  type RbmFields,
} from "../../src/records/types/rbm-connection.ts";
import type { SecretFactory } from "../../src/records/record-type.ts";
import { Type } from "../../src/lib/schema.ts";
import { shapeChecker } from "../../src/lib/shape.ts";
import { Problem, type Fault } from "../../src/model/problem.ts";
import {
  decryptedRbmConnection,
  RBM_DEFAULTS,
  readServiceAccount,
  type RbmConnectionSettings,
} from "../../src/model/rbm-connection.ts";
import { keyFile } from "../support/fake-rbm.ts";

const KEY = keyFile("https://oauth2.googleapis.com/token");
const EMAIL = "sender@rbm-test.iam.gserviceaccount.com";
const GIVEN: RbmFields = { serviceAccount: KEY, clientToken: "a-long-client-token" };
const open = (text: string): string => Buffer.from(text.replace(/^sealed\d+:/, ""), "base64").toString();
let seals = 0;
const secretFactory: SecretFactory = {
  generate: () => "",
  encrypt: (text) => {
    seals += 1;
    return `sealed${seals}:${Buffer.from(text).toString("base64")}`;
  },
  decrypt: open,
};

/** The stored settings, or the names of the wrong fields. */
function store(
  fields: RbmFields,
  known: RbmConnectionSettings | null = null,
  replaced = known,
): { line: RbmConnectionSettings } | { faults: Fault[] } {
  const faults: Fault[] = shapeChecker(rbmRequestSchema)(fields).map(({ parameter, message }) => ({
    parameter: `rbm.${parameter}`,
    message,
  }));
  if (faults.length > 0) return { faults };
  const read = parseRbmConnection(fields, known, faults, replaced);
  if (faults.length > 0) return { faults };
  try {
    return { line: completeRbmConnection(read, replaced, secretFactory) };
  } catch (problem) {
    if (problem instanceof Problem) return { faults: [...problem.faults] };
    throw problem;
  }
}

function stored(fields: RbmFields, known: RbmConnectionSettings | null = null): RbmConnectionSettings {
  const result = store(fields, known);
  if ("faults" in result) throw new Error(JSON.stringify(result.faults));
  return result.line;
}

const wrongFields = (fields: RbmFields, known: RbmConnectionSettings | null = null): string[] => {
  const result = store(fields, known);
  return "faults" in result ? result.faults.map(({ parameter }) => parameter) : [];
};

describe("an RBM connection record", () => {
  test("an RBM connection record has defaults, the token URL of its key, and shows no secret", () => {
    const line = stored(GIVEN);
    expect(showRbmConnection(line)).toEqual({ ...RBM_DEFAULTS, clientEmail: EMAIL });
    expect(JSON.stringify(line)).not.toContain("PRIVATE KEY");
    expect(decryptedRbmConnection(line, open)).toEqual({
      settings: { ...RBM_DEFAULTS, clientEmail: EMAIL },
      secrets: { serviceAccount: KEY, clientToken: "a-long-client-token" },
    });
  });

  test("an RBM connection record is read and shown as its schema says", () => {
    expect(shapeChecker(rbmRequestSchema)({ ...GIVEN, ttlSeconds: { OTP: 30 }, tokenUrl: null })).toEqual([]);
    expect(shapeChecker(rbmResponseSchema)(showRbmConnection(stored(GIVEN)))).toEqual([]);
    const wrong = { connections: 0, responseSeconds: 0, capabilityHours: 0, ttlSeconds: { OTP: 0 } };
    expect(shapeChecker(rbmRequestSchema)(wrong)).toHaveLength(4);
  });

  test("a change keeps the fields it does not name", () => {
    const line = stored({ ...GIVEN, connections: 5, ttlSeconds: { OTP: 30 } });
    const changed = stored({ ttlSeconds: { PROMO: 600 }, capabilityCheck: false }, line);
    expect(changed).toEqual({
      ...line,
      capabilityCheck: false,
      ttlSeconds: { OTP: 30, TRANS: 86_400, PROMO: 600 },
    });
  });

  test("a record of an earlier release gets defaults for new settings", () => {
    const { trafficTypes: _, capabilityHours: __, ...old } = stored(GIVEN);
    expect(showRbmConnection(old as RbmConnectionSettings)).toMatchObject({ trafficTypes: true, capabilityHours: 24 });
    expect(decryptedRbmConnection(old as RbmConnectionSettings, open).settings.capabilityHours).toBe(24);
  });

  test("a new key or client token replaces the connection, and the same ones do not", () => {
    const line = stored(GIVEN);
    expect(stored(GIVEN, line)).toEqual(line);
    const file = { ...(JSON.parse(KEY) as object), client_email: "other@rbm-test.iam.gserviceaccount.com" };
    const rotated = stored({ serviceAccount: JSON.stringify(file), clientToken: "another-long-token" }, line);
    expect(rotated.clientEmail).toBe("other@rbm-test.iam.gserviceaccount.com");
    expect(decryptedRbmConnection(rotated, open).secrets.clientToken).toBe("another-long-token");
  });

  test("an RBM connection record can be exported without secrets and imported where they are known", () => {
    const line = stored(GIVEN);
    expect(stored(showRbmConnection(line), line)).toEqual(line);
    // A file describes the whole record, so only the key comes from the stored one.
    expect(store(showRbmConnection(line), null, line)).toEqual({ line });
    expect(store({}, null, line)).toEqual({ line });
    expect(store({ clientEmail: "other@rbm-test.iam.gserviceaccount.com" }, null, line)).toEqual({
      faults: [expect.objectContaining({ parameter: "rbm.clientEmail" })],
    });
    expect(wrongFields(showRbmConnection(line))).toEqual(["rbm.serviceAccount", "rbm.clientToken"]);
  });

  test("a changed token URL requires the key again", () => {
    const line = stored(GIVEN);
    for (const change of [{ baseUrl: "https://mine.example" }, { tokenUrl: "https://mine.example/token" }]) {
      expect(wrongFields(change, line)).toEqual(["rbm.serviceAccount"]);
      expect(wrongFields({ ...change, serviceAccount: KEY }, line)).toEqual([]);
    }
    expect(wrongFields({ baseUrl: RBM_DEFAULTS.baseUrl, tokenUrl: null, connections: 3 }, line)).toEqual([]);
  });

  const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
  const keyWith = (changes: object): string => JSON.stringify({ ...(JSON.parse(KEY) as object), ...changes });
  test.each<[RbmFields, string]>([
    [{ baseUrl: "rcsbusinessmessaging.googleapis.com" }, "rbm.baseUrl"],
    [{ baseUrl: "https://user:word@rbm.example" }, "rbm.baseUrl"],
    [{ baseUrl: "https://rbm.example/?x=" }, "rbm.baseUrl"],
    [{ baseUrl: "https://rbm.example/\n" }, "rbm.baseUrl"],
    [{ tokenUrl: "ftp://rbm.example" }, "rbm.tokenUrl"],
    [{ clientToken: "short" }, "rbm.clientToken"],
    [{ clientToken: "with spaces in it" }, "rbm.clientToken"],
    [{ clientEmail: "somebody@else.example" }, "rbm.clientEmail"],
    [{ serviceAccount: "not json" }, "rbm.serviceAccount"],
    [{ serviceAccount: "[]" }, "rbm.serviceAccount"],
    [{ serviceAccount: keyWith({ client_email: "nobody" }) }, "rbm.serviceAccount"],
    [{ serviceAccount: keyWith({ private_key: "no key" }) }, "rbm.serviceAccount"],
    [{ serviceAccount: keyWith({ private_key: other }) }, "rbm.serviceAccount"],
    [{ serviceAccount: keyWith({ token_uri: "file:///etc/passwd" }) }, "rbm.serviceAccount"],
    [{ clienttoken: "a-long-client-token" } as RbmFields, "rbm.clienttoken"],
    [{ ttlSeconds: { otp: 5 } as RbmFields["ttlSeconds"] & object }, "rbm.ttlSeconds.otp"],
  ])("an invalid field is refused by name: %j", (fields, parameter) => {
    const result = store({ ...GIVEN, ...fields });
    if (!("faults" in result)) throw new Error("it was taken");
    expect(result.faults.map((fault) => fault.parameter)).toEqual([parameter]);
    expect(JSON.stringify(result.faults)).not.toContain("PRIVATE KEY");
  });
});

test("a key file without token URL uses Google's, and one without key id omits it", () => {
  const { token_uri: _, private_key_id: __, ...rest } = JSON.parse(KEY) as Record<string, string>;
  expect(readServiceAccount(JSON.stringify(rest))).toMatchObject({
    clientEmail: EMAIL,
    keyId: null,
    tokenUrl: "https://oauth2.googleapis.com/token",
  });
});

describe("the agent of a bot", () => {
  const faultsIn = shapeChecker(Type.Object(bot.fields));
  const read = (agentId: string | null | undefined): string[] =>
    faultsIn(agentId === undefined ? {} : { agentId }).map(({ parameter }) => parameter);

  test("the agent of a bot is a valid agent id or absent", () => {
    for (const agentId of ["shop_xy12_agent", "a", null, undefined]) expect(read(agentId)).toEqual([]);
    for (const agentId of ["", "a b", "shop@rbm.goog", "a/b", "x".repeat(101)])
      expect(read(agentId)).toEqual(["agentId"]);
  });
});
