import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { bot } from "../src/catalog/kinds/bot.ts";
import {
  completeRbmLine,
  rbmGiven,
  rbmShown,
  readRbmLine,
  showRbmLine,
  type RbmFields,
} from "../src/catalog/kinds/rbm-line.ts";
import type { Mint } from "../src/catalog/record-kind.ts";
import { shapeChecker } from "../src/lib/shape.ts";
import { Problem, type Fault } from "../src/model/problem.ts";
import { openedRbmLine, RBM_DEFAULTS, readServiceAccount, type RbmLine } from "../src/model/rbm-line.ts";
import { keyFile } from "./support/fake-rbm.ts";

const KEY = keyFile("https://oauth2.googleapis.com/token");
const EMAIL = "sender@rbm-test.iam.gserviceaccount.com";
const GIVEN: RbmFields = { serviceAccount: KEY, clientToken: "a-long-client-token" };
const open = (text: string): string => Buffer.from(text.replace(/^sealed\d+:/, ""), "base64").toString();
let seals = 0;
const mint: Mint = {
  make: () => "",
  seal: (text) => {
    seals += 1;
    return `sealed${seals}:${Buffer.from(text).toString("base64")}`;
  },
  open,
};

/** What is stored of what is given, or the fields that are wrong. */
function store(fields: RbmFields, known: RbmLine | null = null): { line: RbmLine } | { faults: Fault[] } {
  const faults: Fault[] = [];
  const read = readRbmLine(fields, known, faults);
  if (faults.length > 0) return { faults };
  try {
    return { line: completeRbmLine(read, known, mint) };
  } catch (problem) {
    if (problem instanceof Problem) return { faults: [...problem.faults] };
    throw problem;
  }
}

function stored(fields: RbmFields, known: RbmLine | null = null): RbmLine {
  const result = store(fields, known);
  if ("faults" in result) throw new Error(JSON.stringify(result.faults));
  return result.line;
}

const wrongFields = (fields: RbmFields, known: RbmLine | null = null): string[] => {
  const result = store(fields, known);
  return "faults" in result ? result.faults.map(({ parameter }) => parameter) : [];
};

describe("a line to RCS for Business", () => {
  test("has its defaults, the address of its key, and nothing secret to show", () => {
    const line = stored(GIVEN);
    expect(showRbmLine(line)).toEqual({ ...RBM_DEFAULTS, clientEmail: EMAIL });
    expect(JSON.stringify(line)).not.toContain("PRIVATE KEY");
    expect(openedRbmLine(line, open)).toEqual({
      settings: { ...RBM_DEFAULTS, clientEmail: EMAIL },
      secrets: { serviceAccount: KEY, clientToken: "a-long-client-token" },
    });
  });

  test("is given and shown as its shapes say", () => {
    expect(shapeChecker(rbmGiven)({ ...GIVEN, ttlSeconds: { OTP: 30 }, tokenUrl: null })).toEqual([]);
    expect(shapeChecker(rbmShown)(showRbmLine(stored(GIVEN)))).toEqual([]);
    const wrong = { connections: 0, responseSeconds: 0, capabilityHours: 0, ttlSeconds: { OTP: 0 } };
    expect(shapeChecker(rbmGiven)(wrong)).toHaveLength(4);
  });

  test("keeps what a change does not name, field by field", () => {
    const line = stored({ ...GIVEN, connections: 5, ttlSeconds: { OTP: 30 } });
    const changed = stored({ ttlSeconds: { PROMO: 600 }, capabilityCheck: false }, line);
    expect(changed).toEqual({
      ...line,
      capabilityCheck: false,
      ttlSeconds: { OTP: 30, TRANS: 86_400, PROMO: 600 },
    });
  });

  test("that an earlier release stored has the defaults of what that could not know", () => {
    const { trafficTypes: _, capabilityHours: __, ...old } = stored(GIVEN);
    expect(showRbmLine(old as RbmLine)).toMatchObject({ trafficTypes: true, capabilityHours: 24 });
    expect(openedRbmLine(old as RbmLine, open).settings.capabilityHours).toBe(24);
  });

  test("takes another key and another client token, and is the same line with the same ones", () => {
    const line = stored(GIVEN);
    expect(stored(GIVEN, line)).toEqual(line);
    const file = { ...(JSON.parse(KEY) as object), client_email: "other@rbm-test.iam.gserviceaccount.com" };
    const rotated = stored({ serviceAccount: JSON.stringify(file), clientToken: "another-long-token" }, line);
    expect(rotated.clientEmail).toBe("other@rbm-test.iam.gserviceaccount.com");
    expect(openedRbmLine(rotated, open).secrets.clientToken).toBe("another-long-token");
  });

  test("can be exported without its secrets and given back where they are known", () => {
    const line = stored(GIVEN);
    expect(stored(showRbmLine(line), line)).toEqual(line);
    expect(wrongFields(showRbmLine(line))).toEqual(["rbm.serviceAccount", "rbm.clientToken"]);
  });

  test("needs its key again where its token would go elsewhere", () => {
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
  ])("is refused by the field: %j", (fields, parameter) => {
    const result = store({ ...GIVEN, ...fields });
    if (!("faults" in result)) throw new Error("it was taken");
    expect(result.faults.map((fault) => fault.parameter)).toEqual([parameter]);
    expect(JSON.stringify(result.faults)).not.toContain("PRIVATE KEY");
  });
});

test("a key file without a token address has Google's, and one without the name of its key goes without", () => {
  const { token_uri: _, private_key_id: __, ...rest } = JSON.parse(KEY) as Record<string, string>;
  expect(readServiceAccount(JSON.stringify(rest))).toMatchObject({
    clientEmail: EMAIL,
    keyId: null,
    tokenUrl: "https://oauth2.googleapis.com/token",
  });
});

describe("the agent of a bot", () => {
  const read = (agentId: string | null | undefined): string[] => {
    const faults: Fault[] = [];
    bot.read({ fields: { title: null, agentId }, faults } as Parameters<typeof bot.read>[0]);
    return faults.map(({ parameter }) => parameter);
  };

  test("is a name as the platform has it, or none", () => {
    for (const agentId of ["shop_xy12_agent", "a", null, undefined]) expect(read(agentId)).toEqual([]);
    for (const agentId of ["", "a b", "shop@rbm.goog", "a/b", "x".repeat(101)])
      expect(read(agentId)).toEqual(["agentId"]);
  });
});
