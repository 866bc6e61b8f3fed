import { describe, expect, test } from "vitest";
import { createSemaphore, QueueFull } from "../../src/lib/async.ts";
import { rateLimitKey } from "../../src/lib/network.ts";

describe("neighbourhood", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0db8:0001:0002::", "2001:db8:1:2"],
    ["2001:db8:1:2::1", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["no address", "no address"],
    ["", ""],
  ])("%s counts as %s", (address, expected) => {
    expect(rateLimitKey(address)).toBe(expected);
  });
});

describe("createSemaphore", () => {
  test("a semaphore runs work up to its limit, queues further work in order, and refuses work when the queue is full", async () => {
    const through = createSemaphore({ atOnce: 2, waiting: 2 });
    const inside: (() => void)[] = [];
    const done: number[] = [];
    const enter = (n: number): Promise<number> =>
      through(async () => {
        await new Promise<void>((resolve) => void inside.push(resolve));
        done.push(n);
        return n;
      });
    const all = [1, 2, 3, 4].map(enter);
    expect(inside).toHaveLength(2);
    await expect(enter(5)).rejects.toThrow(QueueFull);
    for (let turns = 0; done.length < 4 && turns < 100; turns += 1) {
      inside.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      expect(inside.length).toBeLessThanOrEqual(2);
    }
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
    expect(done).toEqual([1, 2, 3, 4]);
  });

  test("a semaphore releases its permit when work fails", async () => {
    const through = createSemaphore({ atOnce: 1, waiting: 0 });
    await expect(through(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await through(() => Promise.resolve("in"))).toBe("in");
  });
});
