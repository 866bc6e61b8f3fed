import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const files = globSync("src/**/*.ts", { cwd: ROOT }).toSorted();
const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** What each room may import: a folder, or one file of a room whose door is narrower. Its own files it may always import. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  "src/main.ts": ["src/app.ts", "src/config.ts", "src/welcome.ts", "src/accounts/", "src/store/", "src/lib/"],
  "src/welcome.ts": ["src/accounts/create-account.ts"],
  "src/app.ts": ["src/"],
  "src/account-lookup.ts": ["src/catalog/catalog.ts", "src/carriers/create-line.ts", "src/messages/keep-templates.ts", "src/store/store.ts", "src/lib/"],
  "src/cli/": ["src/app.ts", "src/config.ts", "src/welcome.ts", "src/accounts/", "src/catalog/", "src/model/", "src/lib/", "src/webhooks/mint.ts", "src/webhooks/sign.ts", "src/webhooks/post-json.ts", "src/webhooks/event-json.ts", "src/smsc/"],
  "src/config.ts": ["src/lib/"],
  "src/http/": ["package.json", "src/accounts/", "src/catalog/", "src/links/", "src/messages/", "src/webhooks/", "src/verify/", "src/channels/", "src/carriers/simulator/", "src/work/live.ts", "src/work/meters.ts", "src/work/pulse.ts", "src/store/store.ts", "src/store/credit-store.ts", "src/store/figure-store.ts", "src/store/link-store.ts", "src/store/inbound-store.ts", "src/store/callback-store.ts", "src/store/verify-store.ts", "src/carriers/carrier.ts", "src/model/", "src/lib/"],
  "src/accounts/": ["src/catalog/samples.ts", "src/store/record-store.ts", "src/store/user-store.ts", "src/store/audit-store.ts", "src/model/", "src/lib/"],
  "src/catalog/": ["src/channels/", "src/store/catalog-store.ts", "src/store/record-store.ts", "src/model/", "src/lib/"],
  "src/egress/": ["src/lib/"],
  "src/policies/": ["src/model/", "src/lib/"],
  "src/links/": ["src/store/link-store.ts", "src/model/", "src/lib/"],
  "src/messages/": ["src/catalog/", "src/policies/", "src/links/", "src/egress/media.ts", "src/egress/media-probe.ts", "src/channels/", "src/work/", "src/carriers/carrier.ts", "src/store/store.ts", "src/store/catalog-store.ts", "src/store/opt-out-store.ts", "src/store/record-store.ts", "src/store/inbound-store.ts", "src/store/verify-store.ts", "src/model/", "src/lib/"],
  "src/verify/": ["src/catalog/catalog.ts", "src/messages/", "src/policies/country.ts", "src/channels/", "src/work/", "src/store/store.ts", "src/store/record-store.ts", "src/store/verify-store.ts", "src/model/", "src/lib/"],
  "src/webhooks/": ["src/catalog/catalog.ts", "src/egress/addresses.ts", "src/egress/guarded-connect.ts", "src/egress/http-client.ts", "src/egress/http-connection.ts", "src/egress/no-answer.ts", "src/egress/response-head.ts", "src/egress/write-request.ts", "src/work/", "src/store/store.ts", "src/store/catalog-store.ts", "src/store/callback-store.ts", "src/model/", "src/lib/"],
  "src/work/": ["src/carriers/carrier.ts", "src/store/store.ts", "src/store/node-store.ts", "src/store/opt-out-store.ts", "src/store/record-store.ts", "src/store/retention-store.ts", "src/store/verify-store.ts", "src/model/", "src/lib/"],
  "src/channels/": ["src/model/", "src/lib/"],
  "src/smsc/": ["src/smpp/", "src/carriers/simulator/fate.ts", "src/model/", "src/lib/"],
  "src/carriers/": ["src/egress/http-client.ts", "src/egress/http-connection.ts", "src/egress/no-answer.ts", "src/egress/response-head.ts", "src/egress/write-request.ts", "src/store/store.ts", "src/store/id-form-store.ts", "src/store/phone-store.ts", "src/smpp/", "src/model/", "src/lib/"],
  "src/store/sqlite/": ["src/store/engine.ts", "src/store/audit.ts", "src/store/users.ts", "src/store/callbacks.ts", "src/store/callback-rows.ts", "src/store/callback-store.ts", "src/store/catalog.ts", "src/store/charge.ts", "src/store/credits.ts", "src/store/figures.ts", "src/store/inbound.ts", "src/store/links.ts", "src/store/link-store.ts", "src/store/optouts.ts", "src/store/reading.ts", "src/store/records.ts", "src/store/retention.ts", "src/store/rows.ts", "src/store/store.ts", "src/store/tables.ts", "src/store/verifications.ts", "src/store/verification-rows.ts", "src/store/prefix-rows.ts", "src/store/verify-store.ts", "src/store/migrations/", "src/carriers/carrier.ts", "src/store/inbound-parts.ts", "src/store/says-only.ts", "src/store/submissions.ts", "src/store/as-known.ts", "src/store/verify-guard.ts", "src/model/", "src/lib/"],
  "src/store/postgres/": ["src/store/engine.ts", "src/store/audit.ts", "src/store/users.ts", "src/store/callbacks.ts", "src/store/callback-rows.ts", "src/store/callback-store.ts", "src/store/catalog.ts", "src/store/charge.ts", "src/store/credits.ts", "src/store/figures.ts", "src/store/inbound.ts", "src/store/links.ts", "src/store/link-store.ts", "src/store/optouts.ts", "src/store/reading.ts", "src/store/records.ts", "src/store/retention.ts", "src/store/rows.ts", "src/store/store.ts", "src/store/node-store.ts", "src/store/tables.ts", "src/store/verifications.ts", "src/store/verification-rows.ts", "src/store/prefix-rows.ts", "src/store/verify-store.ts", "src/store/migrations/", "src/carriers/carrier.ts", "src/store/inbound-parts.ts", "src/store/rounds.ts", "src/store/submissions.ts", "src/store/as-known.ts", "src/store/verify-guard.ts", "src/model/"],
  "src/store/": ["src/carriers/carrier.ts", "src/model/", "src/lib/"],
  "src/model/": ["src/lib/"],
  "src/lib/": [],
  "src/smpp/": [],
}; // prettier-ignore

const roomOf = (file: string): string | undefined =>
  Object.keys(MAY_IMPORT)
    .filter((room) => file === room || (room.endsWith("/") && file.startsWith(room)))
    .toSorted((a, b) => b.length - a.length)[0];

const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(ROOT, join(ROOT, dirname(file), match[1] ?? "")),
  );

const allows = (rule: string, file: string): boolean => (rule.endsWith("/") ? file.startsWith(rule) : file === rule);

describe("the house", () => {
  test("there are files to look at", () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(150);
  });

  test("every file stands in a room that the map knows", () => {
    expect(files.filter((file) => roomOf(file) === undefined)).toEqual([]);
  });

  test.each(files)("%s imports only what its room may", (file) => {
    const room = roomOf(file) ?? "";
    const wrong = importsOf(file).filter(
      (target) =>
        !(room.endsWith("/") && target.startsWith(room)) &&
        !(MAY_IMPORT[room] ?? []).some((rule) => allows(rule, target)),
    );
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(MAY_IMPORT))("%s imports what it may, so that the map is true", (room, rules) => {
    const imported = files.filter((file) => roomOf(file) === room).flatMap(importsOf);
    expect(rules.filter((rule) => !imported.some((target) => allows(rule, target)))).toEqual([]);
  });

  test("a simulated carrier's door is the only adapter that the HTTP room knows", () => {
    const adapters = files
      .filter((file) => file.startsWith("src/http/"))
      .flatMap(importsOf)
      .filter((target) => /^src\/(store|carriers)\/\w+\//.test(target));
    expect(new Set(adapters.map((target) => dirname(target)))).toEqual(new Set(["src/carriers/simulator"]));
  });

  test("the SMPP room could be published alone: it needs nothing but Node, and has no word of this house", () => {
    const room = files.filter((file) => file.startsWith("src/smpp/"));
    expect(room.length).toBeGreaterThan(10);
    const packages = room.flatMap((file) =>
      [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*"([^."][^"]*)"/g)].map((match) => match[1] ?? ""),
    );
    expect(packages.filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect(room.filter((file) => /heliograph/i.test(textOf(file)))).toEqual([]);
  });

  test("the threads of a database need nothing but Node: they start with every store, and a query builder would cost them most of it", () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      const text = textOf(file).replaceAll(/^import type [^;]+;/gm, "");
      for (const [, name = ""] of text.matchAll(/ from "([^"]+)";/g))
        if (name.startsWith(".")) load(join(dirname(file), name));
        else loaded.add(name);
    };
    for (const thread of ["writer.ts", "reader.ts"]) load(`src/store/sqlite/${thread}`);
    expect(loaded.size).toBeGreaterThan(10);
    expect([...loaded].filter((name) => !/^(node:|src\/)/.test(name))).toEqual([]);
  });

  test("nothing below the entry reads the environment, and only the entry ends the process", () => {
    const reading = files.filter((file) => /process\.(env|exit)\b/.test(textOf(file)));
    expect(reading).toEqual(["src/cli/heliograph.ts", "src/main.ts"]);
  });

  test("importing a module does nothing: no listener, timer or connection at the top level", () => {
    const entries = new Set([
      "src/main.ts",
      "src/cli/heliograph.ts",
      "src/store/sqlite/writer.ts",
      "src/store/sqlite/reader.ts",
    ]);
    const acting = files.filter(
      (file) => !entries.has(file) && /^(?:await|void|setInterval|setTimeout|process\.on)\b/m.test(textOf(file)),
    );
    expect(acting).toEqual([]);
  });

  test("every step of the walk that names the next one names a file that exists, and the walk reaches from the door to the report", () => {
    const links = files.flatMap((file) =>
      [...textOf(file).matchAll(/Next: (\S+\.ts)/g)].map((match) => [file, match[1] ?? ""] as const),
    );
    for (const [file, next] of links) expect(existsSync(join(ROOT, next)), `${file} → ${next}`).toBe(true);
    for (const channel of ["sms", "chatapp", "rcs"]) {
      const reached = new Set([`src/http/v1/${channel}.ts`]);
      for (const file of reached) for (const [from, next] of links) if (from === file) reached.add(next);
      expect([...reached]).toEqual(
        expect.arrayContaining([
          `src/channels/${channel}/read.ts`,
          `src/channels/${channel}/compose.ts`,
          "src/messages/judge.ts",
          "src/messages/accept.ts",
          "src/messages/dispatch.ts",
          "src/carriers/carrier.ts",
          "src/messages/report.ts",
        ]),
      );
    }
  });
});
