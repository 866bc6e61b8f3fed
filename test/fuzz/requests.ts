import { ROUTES } from "../../src/http/routes.ts";
import type { Route } from "../../src/http/route.ts";
import { body, number, oddString, spoil, write } from "./json.ts";
import type { Random } from "./random.ts";

export interface FuzzRequest {
  method: string;
  path: string;
  /** Alternating names and values, so that a header can occur twice. */
  headers: string[];
  body: Buffer | null;
  /** The intended route; null if method or path match none. */
  route: Route | null;
}

/** Ids from earlier responses, used in later requests. */
export interface Known {
  key: string;
  messageIds: string[];
  keyIds: string[];
  /** Ids by collection path. */
  recordIds: Record<string, string[]>;
  numbers: string[];
  cursors: string[];
}

const SEND = "/v1/sms";
const KEYS_MAX = 300;
const RECORDS_MAX = 100;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY", "PURGE"];

/** Generates a request for one of the routes, valid or nearly so. */
export function generate(random: Random, known: Known): FuzzRequest {
  const route = chooseRoute(random, known);
  const method = random.chance(0.04) ? random.pick(METHODS) : route.method;
  const astray = random.chance(0.03);
  const path = astray ? oddPath(random) : fillPath(random, route, known) + queryOf(random, route, known);
  const bytes = bodyOf(random, route);
  const hasBody = bytes !== null && method !== "HEAD" && method !== "GET" && method !== "TRACE";
  return {
    method,
    path,
    headers: headersOf(random, known, hasBody),
    body: hasBody ? bytes : null,
    route: astray || method !== route.method ? null : route,
  };
}

function chooseRoute(random: Random, known: Known): Route {
  const send = ROUTES.find((route) => route.path === SEND) as Route;
  if (random.chance(0.5)) return send;
  const route = random.pick(ROUTES);
  const makesKey = route.method === "POST" && route.path.startsWith("/api/keys");
  if (makesKey && known.keyIds.length >= KEYS_MAX) return send;
  return route.method === "POST" && (known.recordIds[route.path]?.length ?? 0) >= RECORDS_MAX ? send : route;
}

function bodyOf(random: Random, route: Route): Buffer | null {
  if (!route.body) return random.chance(0.05) ? Buffer.from("{}") : null;
  if (random.chance(0.02)) return null;
  const bytes = Buffer.from(write(body(random, route.body)), "utf8");
  return random.chance(0.08) ? spoil(random, bytes) : bytes;
}

function fillPath(random: Random, route: Route, known: Known): string {
  // A path parameter may have a pattern.
  return route.path.replaceAll(/:(\w+)(?:\(.*\))?/g, (_, name: string) => {
    if (random.chance(0.15)) return segmentOf(oddString(random));
    if (name === "code") return random.pick(["zzzzzzz", "2345678", "zzzzzz0", "zzzzzzzz"]);
    if (name === "messageId")
      return random.pick([...known.messageIds.slice(-20), "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1"]);
    if (name === "number") return random.pick([...known.numbers.slice(-20), number(random)]).replaceAll(/[^0-9]/g, "");
    const ids = known.recordIds[route.path.slice(0, route.path.indexOf("/:"))] ?? known.keyIds;
    return random.pick([...ids.slice(-20), "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47"]);
  });
}

const segmentOf = (value: string): string => encodeURIComponent(value.toWellFormed().slice(0, 300));

function oddPath(random: Random): string {
  return random.pick([
    "/", "//", "/v1", "/v1/", "/v1/sms/", "/v1//sms", "/V1/SMS", "/v1/sms/..", "/v1/../v1/sms", "/%2e%2e/etc/passwd", "/v1/%73ms", "/v1/sms%00", "/v1/%zz",
    "/api/keys/%", "/api/keys/%ff", "/v1/messages/%E0%A4%A", "/v1/sms?%zz=%", "/v1/sms;a=b", "/api/keys/", "/api/simulator/phones//messages", "/docs/../healthz",
    `/api/keys/${"a".repeat(201)}`, `/v1/messages/${"%41".repeat(150)}`, `/v1/messages?cursor=${"a".repeat(5000)}`, `/${"a/".repeat(2000)}`, "/healthz?x=1", "/__proto__", "/constructor",
    "/v1/messages?limit=5&limit=6", "/v1/messages?__proto__=1&constructor=2", "/v1/messages?status[]=Pending", "/v1/messages?=&&==", "/v1/messages?from=1&to=0",
  ]); // prettier-ignore
}

function queryOf(random: Random, route: Route, known: Known): string {
  const names = Object.keys(route.query ?? {});
  const chosen = names
    .filter(() => random.chance(0.4))
    .map((name): [string, string] => [name, queryValue(random, name, known)]);
  // Long polling: wait at most one second.
  if (names.includes("timeout")) {
    const others = chosen.filter(([name]) => name !== "timeout" && name !== "to");
    const to = random.chance(0.85) ? number(random) : oddString(random);
    chosen.splice(
      0,
      chosen.length,
      ["to", to],
      ["timeout", random.pick(["0", "0", "0", "1", "200", "-1", "abc", "1e9", "９"])],
      ...others,
    );
  }
  if (random.chance(0.03))
    chosen.push([random.pick(["__proto__", "constructor", "x", ""]), oddString(random).slice(0, 500)]);
  if (chosen.length === 0) return "";
  return `?${chosen.map(([name, value]) => `${segmentOf(name)}=${segmentOf(value)}`).join("&")}`;
}

function queryValue(random: Random, name: string, known: Known): string {
  if (random.chance(0.3)) return oddString(random);
  switch (name) {
    case "limit":
      return random.pick(["1", "50", "200", "201", "0", "-1", "1.5", "1e2", "999999"]);
    case "status":
      return random.pick(["Pending", "delivered", "FAILED", "Lost"]);
    case "from":
    case "to":
      return random.pick([
        "0", "1767225600000", "2026-01-31T18:00:00Z", "2026-02-30", "999999999999999", "281474976710656", "8640000000000000", "+275760-09-13", "-271821-04-20", "Infinity",
      ]); // prettier-ignore
    case "cursor":
    case "after":
    case "messageId":
      return random.pick([
        ...known.cursors.slice(-5),
        ...known.messageIds.slice(-5),
        "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
        "x",
      ]);
    default:
      return random.pick([number(random), "sms", "autumn", "15550100100"]);
  }
}

function headersOf(random: Random, known: Known, hasBody: boolean): string[] {
  const headers = [...keyHeaders(random, known.key)];
  if (hasBody && !random.chance(0.02)) headers.push("content-type", contentType(random));
  if (random.chance(0.08)) headers.push(random.pick(["Idempotency-Key", "idempotency-key"]), idempotencyKey(random));
  if (random.chance(0.01)) headers.push("idempotency-key", idempotencyKey(random));
  if (random.chance(0.03)) {
    headers.push(
      ...random.pick([
        ["x-forwarded-for", "garbage"],
        ["x-forwarded-for", "1.2.3.4, 5.6.7.8"],
        ["content-encoding", "gzip"],
        ["accept", "application/xml"],
        ["accept-encoding", "br;q=0"],
        ["cookie", "a=b; ".repeat(200)],
        ["last-event-id", "\u00ff"],
        ["range", "bytes=0-1"],
        ["if-none-match", "*"],
        ["x-http-method-override", "DELETE"],
        ["origin", "https://evil.example"],
        ["x-odd", "v".repeat(8000)],
        ["x-latin", "\u00e9\u00ff\u0080"],
        ["authorization", "Bearer x"],
      ]),
    );
  }
  return headers;
}

function keyHeaders(random: Random, key: string): string[] {
  if (!random.chance(0.03)) return [random.pick(["apikey", "apiKey", "APIKEY", "ApiKey"]), key];
  return random.pick([
    [],
    ["apikey", ""],
    ["apikey", `${key}x`],
    ["apikey", key.toUpperCase()],
    ["apikey", key, "apikey", key],
    ["apikey", key, "apikey", "other"],
    ["apikey", `${key},${key}`],
    ["apikey", `${key},`],
    ["apikey", "k".repeat(9000)],
    ["apikey", "\u00ff\u00fe"],
    ["apikey", ` ${key} `],
    ["api-key", key],
    ["authorization", key],
  ]);
}

function contentType(random: Random): string {
  if (!random.chance(0.06))
    return random.pick(["application/json", "application/json; charset=utf-8", "Application/JSON"]);
  return random.pick([
    "text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=latin1",
    "application/json;", "application/json; charset", "application/jsonx", "application/ld+json", "json", "", ";", "*/*", "application/json, text/plain", "\u00ff", "a".repeat(2000),
  ]); // prettier-ignore
}

const idempotencyKey = (random: Random): string =>
  random.pick([
    `k${random.below(40)}`,
    `k${random.below(40)}`,
    "a",
    "x".repeat(255),
    "x".repeat(256),
    "",
    " ",
    "\u00e9",
    "'; --",
    "a,b",
  ]);
