import { describe, expect, it, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { readDatabaseUrl } from "../../src/lib/database-url.ts";
import { DatabaseServers } from "../../src/store/postgres/servers.ts";

describe("a database URL", () => {
  it.each([
    ["postgres://db/heliograph", ["postgres://db/heliograph"]],
    ["postgresql://u:p@db:5433/x?sslmode=verify-full", ["postgresql://u:p@db:5433/x?sslmode=verify-full"]],
    [
      "postgres://user@h1:5432,h2:5433,h3/db?target_session_attrs=read-write",
      ["postgres://user@h1:5432/db", "postgres://user@h2:5433/db", "postgres://user@h3/db"],
    ],
    [
      "postgres://u:a,b%40c@h1,h2/db?sslmode=no-verify&target_session_attrs=primary&application_name=x",
      [
        "postgres://u:a,b%40c@h1/db?sslmode=no-verify&application_name=x",
        "postgres://u:a,b%40c@h2/db?sslmode=no-verify&application_name=x",
      ],
    ],
    ["postgres://[::1]:5432,[fe80::2]/db", ["postgres://[::1]:5432/db", "postgres://[fe80::2]/db"]],
    ["postgres:///db?host=/var/run/postgresql", ["postgres:///db?host=/var/run/postgresql"]],
    ["postgres://u@%2Fvar%2Frun/db", ["postgres://u@%2Fvar%2Frun/db"]],
  ])("%s names one server for each host, in order", (written, urls) => {
    expect(readDatabaseUrl(written)).toEqual(urls);
    expect(readConfig({ HELIOGRAPH_DATABASE_URL: written }).databaseUrl).toBe(written);
  });

  it.each([
    ["postgres://u:secret@h1,h2/db?target_session_attrs=any", /target_session_attrs must be read-write/],
    ["postgres://u:secret@h1/db?target_session_attrs=standby", /target_session_attrs must be read-write/],
    ["postgres://u:secret@h1,h2/db?load_balance_hosts=random", /load_balance_hosts must be disable/],
    ["postgres://u:secret@h1/db?hostaddr=10.0.0.1", /hostaddr is not supported/],
    ["postgres://u:secret@/db?host=h1,h2", /the parameter host must be single/],
    ["postgres://u:secret@h1,h2/db?port=1,2", /the parameter port must be single/],
    ["postgres://u:secret@h1,h2/db?host=h3", /both a list of hosts and the parameter host/],
    ["postgres://u:secret@h1,%2Fvar%2Frun/db", /must not contain a socket directory/],
    ["postgres://u:secret@h1,,h2/db", /every host of the list must be/],
    ["postgres://u:secret@h1:70000,h2/db", /every host of the list must be/],
    ["postgres://u:secret@h1:5432:1,h2/db", /every host of the list must be/],
  ])("%s is refused with the reason and without the password", (written, reason) => {
    const read = () => readConfig({ HELIOGRAPH_DATABASE_URL: written });
    expect(read).toThrow(reason);
    expect(read).toThrow(/^HELIOGRAPH_DATABASE_URL/);
    expect(read).not.toThrow("secret");
  });
});

describe("the servers of a database", () => {
  const away = new Error("connection refused");
  const nameOf = (servers: DatabaseServers): string => servers.begin().server.name;

  test("are tried in order, and attempts that fail together count once", () => {
    const servers = new DatabaseServers("postgres://a,b,c/db");
    const together = [servers.begin(), servers.begin(), servers.begin()];
    for (const attempt of together) servers.failed(attempt, away);
    expect(nameOf(servers)).toBe("b");
    servers.succeeded();
    expect(nameOf(servers)).toBe("b");
  });

  test("rest after a round without success, for longer each time and at most a quarter of a second", () => {
    const servers = new DatabaseServers("postgres://a,b/db", { random: () => 1, now: () => 1000 });
    const rests: number[] = [];
    for (let failures = 0; failures < 12; failures += 1) {
      servers.failed(servers.begin(), away);
      rests.push(servers.backoffMs);
    }
    expect(rests).toEqual([0, 50, 50, 100, 100, 200, 200, 250, 250, 250, 250, 250]);
    servers.succeeded();
    expect(servers.backoffMs).toBe(0);
  });

  test("rest for half of that at least, so that nodes do not connect in step", () => {
    const servers = new DatabaseServers("postgres://a/db", { random: () => 0, now: () => 1000 });
    servers.failed(servers.begin(), away);
    expect(servers.backoffMs).toBe(25);
  });

  test("that have become read-only lose the connections opened before, and keep those opened after", () => {
    const servers = new DatabaseServers("postgres://a,b/db");
    const [first, second] = [servers.begin(), servers.begin()];
    servers.retire(first, away);
    expect({ first: servers.isRetired(first), second: servers.isRetired(second), next: nameOf(servers) }).toEqual({
      first: true,
      second: true,
      next: "b",
    });
    servers.failed(servers.begin(), away);
    const again = servers.begin();
    expect({ name: again.server.name, isRetired: servers.isRetired(again) }).toEqual({ name: "a", isRetired: false });
    // A late report of the old connection does not count against the new ones.
    servers.failed(first, away);
    expect(nameOf(servers)).toBe("a");
  });

  test("tell what is wrong with each of them, without user and password", () => {
    const servers = new DatabaseServers("postgres://u:secret@a:1,b:2/db");
    servers.failed(servers.begin(), away);
    servers.failed(servers.begin(), new Error("read-only"));
    expect(servers.faults).toBe("a:1: connection refused; b:2: read-only");
  });
});
