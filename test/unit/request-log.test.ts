import { expect, test } from "vitest";
import type { Caller } from "../../src/accounts/caller.ts";
import { bodyShape } from "../../src/http/request-log/body-shape.ts";
import { RequestLog } from "../../src/http/request-log/request-log.ts";

const clock = { now: () => 1000, monotonic: () => 0 };

const caller = (accountId: number, id: string): Caller =>
  ({ account: { id: accountId }, actor: { kind: "key", id, name: id }, key: { mode: "live" } }) as unknown as Caller;

const REQUEST = {
  method: "GET",
  path: "/v1/messages",
  query: [],
  status: 200,
  code: null,
  requestId: null,
  durationMs: 1,
  body: null,
};

test("a key has at most 100 successes and 100 errors", () => {
  const log = new RequestLog(clock);
  for (let n = 0; n < 250; n += 1) {
    log.add(caller(1, "a"), REQUEST);
    log.add(caller(1, "a"), { ...REQUEST, code: "INVALID_REQUEST" });
  }
  expect(log.list(1, ({ code }) => code === null).rows).toHaveLength(100);
  expect(log.list(1, ({ code }) => code !== null).rows).toHaveLength(100);
});

test("an account with many keys pushes out only its own", () => {
  const log = new RequestLog(clock);
  log.add(caller(2, "other"), REQUEST);
  for (let n = 0; n < 500; n += 1) log.add(caller(1, `key ${n}`), REQUEST);
  expect(log.list(1, () => true).rows).toHaveLength(20);
  expect(log.list(2, () => true).rows).toHaveLength(1);
});

test("the log keeps 200 keys, those that were logged last", () => {
  const log = new RequestLog(clock);
  for (let account = 0; account < 300; account += 1) log.add(caller(account, `key ${account}`), REQUEST);
  expect(log.list(0, () => true).rows).toHaveLength(0);
  expect(log.list(100, () => true).rows).toHaveLength(1);
});

test("ten successes of a key per second are admitted, and its errors have a rate of their own", () => {
  const log = new RequestLog(clock);
  const admitted = Array.from({ length: 30 }, () => log.admits(caller(1, "a"), "success"));
  expect(admitted.filter(Boolean)).toHaveLength(10);
  expect(log.admits(caller(1, "a"), "refusal")).toBe(true);
  expect(log.list(1, () => true).omitted).toBe(20);
});

test("the shape of a body is bounded whatever the body", () => {
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field${"x".repeat(30)}${n % 10}`, { n }]));
  const nested = Array.from({ length: 12 }).reduce<object>((inner) => ({ a: inner, b: inner }), {});
  const lists = { to: Array.from({ length: 1000 }, () => "15550100100") };
  for (const body of [wide, nested, lists, [wide, wide], { wide, nested }]) {
    const shape = bodyShape(body, true);
    expect(shape?.length).toBeLessThanOrEqual(1000);
    expect(() => JSON.parse(shape ?? "")).not.toThrow();
  }
  expect(bodyShape(lists, true)).toBe('{"to":["string(11)","999 more"]}');
  expect(bodyShape(Buffer.from("raw"), true)).toBeNull();
});
