import { describe, expect, test } from "vitest";
import { DatabaseServers } from "../../src/store/postgres/servers.ts";

describe("the servers of a database URL", () => {
  test("late faults of retired connections do not count against newer ones", () => {
    const servers = new DatabaseServers("postgres://user@a,b/name", { now: () => 0, random: () => 0 });
    const old = servers.begin();
    servers.retire(old, new Error("read-only"));
    expect(servers.begin().server.name).toBe("b");
    servers.failed(servers.begin(), new Error("read-only"));
    const fresh = servers.begin();
    expect(fresh.server.name).toBe("a");
    for (let late = 0; late < 10; late += 1) servers.retire(old, new Error("read-only"));
    expect([servers.isRetired(fresh), servers.begin().server.name]).toEqual([false, "a"]);
  });

  test("statements that see one server become read-only together count once", () => {
    const servers = new DatabaseServers("postgres://user@a/name", { now: () => 0, random: () => 1 });
    const attempts = Array.from({ length: 10 }, () => servers.begin());
    for (const attempt of attempts) servers.retire(attempt, new Error("read-only"));
    expect([servers.turn, servers.backoffMs]).toEqual([1, 50]);
  });
});
