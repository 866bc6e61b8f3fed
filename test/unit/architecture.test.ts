import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const files = globSync("src/**/*.ts", { cwd: ROOT }).toSorted();
const textOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** Allowed imports of each module: a folder, or a single file. A module may always import its own files. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  "src/main.ts": ["src/accounts/", "src/app/start.ts", "src/app/welcome.ts", "src/config.ts", "src/lib/", "src/store/migrations/", "src/store/store.ts"],
  "src/config.ts": ["src/lib/", "src/model/", "src/object-storage/bucket-url.ts"],
  "src/build-info.ts": ["package.json"],
  "src/metrics.ts": ["src/build-info.ts", "src/lib/"],
  "src/app/": ["src/"],
  "src/backup/": ["src/accounts/master-key.ts", "src/build-info.ts", "src/config.ts", "src/lib/", "src/metrics.ts", "src/model/hold.ts", "src/object-storage/", "src/store/migrations/", "src/store/sqlite/copy.ts"],
  "src/object-storage/": [],
  "src/cli/": ["src/accounts/", "src/app/doctor/", "src/app/storage.ts", "src/app/welcome.ts", "src/backup/", "src/build-info.ts", "src/config.ts", "src/lib/", "src/main.ts", "src/model/", "src/object-storage/", "src/records/", "src/smsc/", "src/store/hold.ts", "src/store/migrations/", "src/store/sqlite/compact.ts", "src/store/sqlite/copy.ts", "src/store/store.ts", "src/store/transfer/", "src/webhooks/payloads/event-json.ts", "src/webhooks/post-json.ts", "src/webhooks/secrets.ts", "src/webhooks/sign.ts"],
  "src/http/": ["src/accounts/", "src/alerts/rules.ts", "src/build-info.ts", "src/campaigns/", "src/carriers/carrier.ts", "src/carriers/simulator/", "src/channels/", "src/cluster/event-loop-lag.ts", "src/egress/image-fetch.ts", "src/email/", "src/lib/", "src/links/", "src/media/", "src/metrics.ts", "src/model/", "src/otp/", "src/pipeline/", "src/records/", "src/stats/", "src/store/callbacks.ts", "src/store/credits.ts", "src/store/inbound.ts", "src/store/links.ts", "src/store/query-caller.ts", "src/store/reporting-queue.ts", "src/store/smpp-binds.ts", "src/store/stats.ts", "src/store/store.ts", "src/store/verifications.ts", "src/webhooks/"],
  "src/facades/": ["src/build-info.ts", "src/accounts/audit.ts", "src/accounts/keyring.ts", "src/accounts/secret-index.ts", "src/channels/", "src/cluster/membership.ts", "src/http/auth/authenticate.ts", "src/http/decode-body.ts", "src/http/errors.ts", "src/http/facade.ts", "src/http/public/", "src/http/read-json.ts", "src/http/route.ts", "src/lib/", "src/metrics.ts", "src/model/", "src/otp/", "src/pipeline/", "src/pipeline/accept/prepare.ts", "src/pipeline/cancel.ts", "src/records/catalog.ts", "src/smpp-text/", "src/smpp/", "src/store/callbacks.ts", "src/store/query-caller.ts", "src/store/smpp-binds.ts", "src/store/stats.ts", "src/store/store.ts", "src/store/submitted-parts.ts", "src/webhooks/facade-delivery.ts", "src/webhooks/sign.ts", "src/webhooks/transport/transport.ts"],
  "src/mcp/": ["src/accounts/", "src/build-info.ts", "src/http/", "src/lib/", "src/model/"],
  "src/accounts/": ["src/lib/", "src/model/", "src/records/sample-data.ts", "src/store/audit.ts", "src/store/credentials.ts", "src/store/records.ts", "src/store/users.ts"],
  "src/records/": ["src/channels/", "src/email/", "src/lib/", "src/model/", "src/store/catalog.ts", "src/store/credentials.ts", "src/store/records.ts"],
  "src/acme/": ["src/lib/", "src/store/records.ts"],
  "src/egress/": ["src/http-client/", "src/lib/"],
  "src/http-client/": ["src/lib/"],
  "src/media/": ["src/carriers/carrier-media.ts", "src/carriers/carrier.ts", "src/egress/file-transfer.ts", "src/lib/", "src/model/", "src/object-storage/", "src/store/media.ts"],
  "src/links/": ["src/lib/", "src/model/", "src/store/links.ts", "src/store/store.ts"],
  "src/pipeline/": ["src/carriers/carrier.ts", "src/channels/", "src/cluster/for-each-isolated.ts", "src/cluster/membership.ts", "src/egress/media-probe.ts", "src/egress/media.ts", "src/email/", "src/lib/", "src/links/", "src/metrics.ts", "src/model/", "src/records/", "src/store/awaited-receipts.ts", "src/store/campaign-results.ts", "src/store/catalog.ts", "src/store/contacts.ts", "src/store/credits.ts", "src/store/hold.ts", "src/store/inbound.ts", "src/store/keyword-users.ts", "src/store/nodes.ts", "src/store/opt-outs.ts", "src/store/records.ts", "src/store/search/search-index.ts", "src/store/stops.ts", "src/store/store.ts", "src/store/transition.ts", "src/store/verifications.ts"],
  "src/campaigns/": ["src/channels/", "src/lib/", "src/model/", "src/pipeline/", "src/store/audience-check.ts", "src/store/audiences.ts", "src/store/campaigns.ts", "src/store/contacts.ts", "src/store/opt-outs.ts", "src/store/store.ts"],
  "src/contacts/": ["src/lib/", "src/model/", "src/pipeline/cancel.ts", "src/store/audiences.ts", "src/store/contact-imports.ts", "src/store/contacts.ts", "src/store/erasures.ts", "src/store/media.ts", "src/store/opt-outs.ts", "src/store/stops.ts", "src/store/store.ts"],
  "src/alerts/": ["src/carriers/carrier.ts", "src/cluster/for-each-isolated.ts", "src/cluster/membership.ts", "src/email/", "src/lib/", "src/model/", "src/records/catalog.ts", "src/store/alerts.ts", "src/store/credits.ts", "src/store/oldest-waiting.ts", "src/store/records.ts", "src/store/stats.ts", "src/webhooks/fan-out.ts"],
  "src/otp/": ["src/channels/", "src/email/", "src/lib/", "src/metrics.ts", "src/model/", "src/pipeline/", "src/records/", "src/store/records.ts", "src/store/store.ts", "src/store/transition.ts", "src/store/verifications.ts"],
  "src/webhooks/": ["src/cluster/membership.ts", "src/egress/addresses.ts", "src/egress/guarded-connect.ts", "src/http-client/client.ts", "src/http-client/connection.ts", "src/http-client/no-response.ts", "src/http-client/response-head.ts", "src/http-client/write-request.ts", "src/lib/", "src/metrics.ts", "src/model/", "src/pipeline/group-commit.ts", "src/records/catalog.ts", "src/store/callbacks.ts", "src/store/catalog.ts", "src/store/store.ts", "src/store/transition.ts"],
  "src/cluster/": ["src/lib/", "src/metrics.ts", "src/model/", "src/store/key-range.ts", "src/store/nodes.ts", "src/store/records.ts", "src/store/retention.ts", "src/store/search/search-index.ts", "src/store/store.ts"],
  "src/stats/": ["src/lib/", "src/model/", "src/pipeline/group-commit.ts", "src/pipeline/policy/country.ts", "src/store/store.ts", "src/store/transition.ts", "src/store/verifications.ts"],
  "src/channels/": ["src/email/", "src/lib/", "src/model/"],
  "src/smsc/": ["src/carriers/simulator/scripted-outcome.ts", "src/lib/", "src/model/", "src/smpp/"],
  "src/carriers/": ["src/email/", "src/http-client/client.ts", "src/http-client/connection.ts", "src/http-client/no-response.ts", "src/http-client/response-head.ts", "src/http-client/write-request.ts", "src/lib/", "src/model/", "src/smpp/", "src/smpp-text/", "src/store/phones.ts", "src/store/store.ts", "src/store/submissions.ts"],
  "src/store/sqlite/": ["src/lib/", "src/model/", "src/store/callback-rows.ts", "src/store/callbacks.ts", "src/store/charge.ts", "src/store/engine.ts", "src/store/is-stopped.ts", "src/store/key-range.ts", "src/store/links.ts", "src/store/migrations/", "src/store/nodes.ts", "src/store/prefix-rows.ts", "src/store/reads.ts", "src/store/reporting-queue.ts", "src/store/rows.ts", "src/store/shared-queries.ts", "src/store/store.ts", "src/store/tables.ts", "src/store/transition.ts", "src/store/verification-rows.ts", "src/store/verifications.ts"],
  "src/store/postgres/": ["src/lib/clock.ts", "src/lib/database-url.ts", "src/model/", "src/store/callback-rows.ts", "src/store/callbacks.ts", "src/store/charge.ts", "src/store/engine.ts", "src/store/is-stopped.ts", "src/store/links.ts", "src/store/migrations/", "src/store/nodes.ts", "src/store/prefix-rows.ts", "src/store/sub-batches.ts", "src/store/reads.ts", "src/store/reporting-queue.ts", "src/store/rows.ts", "src/store/shared-queries.ts", "src/store/store.ts", "src/store/tables.ts", "src/store/transition.ts", "src/store/verification-rows.ts", "src/store/verifications.ts"],
  "src/store/transfer/": ["src/lib/ids.ts", "src/model/hold.ts", "src/store/postgres/", "src/store/sqlite/", "src/store/store.ts"],
  "src/store/": ["src/lib/", "src/model/"],
  "src/model/": ["src/email/", "src/lib/"],
  "src/lib/": [],
  "src/smpp-text/": ["src/lib/", "src/model/", "src/smpp/"],
  "src/smpp/": [],
  "src/email/": [],
}; // prettier-ignore

const moduleOf = (file: string): string | undefined =>
  Object.keys(MAY_IMPORT)
    .filter((module) => file === module || (module.endsWith("/") && file.startsWith(module)))
    .toSorted((a, b) => b.length - a.length)[0];

const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(ROOT, join(ROOT, dirname(file), match[1] ?? "")),
  );

const allows = (rule: string, file: string): boolean => (rule.endsWith("/") ? file.startsWith(rule) : file === rule);

describe("the modules of src", () => {
  test("are found", () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(150);
  });

  test("every file belongs to a module of the table", () => {
    expect(files.filter((file) => moduleOf(file) === undefined)).toEqual([]);
  });

  test("every file imports only what its module may", () => {
    const wrong = files.flatMap((file) => {
      const module = moduleOf(file) ?? "";
      return importsOf(file)
        .filter(
          (target) =>
            !(module.endsWith("/") && target.startsWith(module)) &&
            !(MAY_IMPORT[module] ?? []).some((rule) => allows(rule, target)),
        )
        .map((target) => `${file} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  test("every permission is used, so that the table is true", () => {
    const unused = Object.entries(MAY_IMPORT).flatMap(([module, rules]) => {
      const imported = files.filter((file) => moduleOf(file) === module).flatMap(importsOf);
      return rules
        .filter((rule) => !imported.some((target) => allows(rule, target)))
        .map((rule) => `${module} may import ${rule} and does not`);
    });
    expect(unused).toEqual([]);
  });

  test("http/ knows no adapter but the simulator", () => {
    const adapters = files
      .filter((file) => file.startsWith("src/http/"))
      .flatMap(importsOf)
      .filter((target) => /^src\/(store|carriers)\/\w+\//.test(target));
    expect(new Set(adapters.map((target) => dirname(target)))).toEqual(new Set(["src/carriers/simulator"]));
  });

  test("smpp/ can be published alone: it imports only Node and never mentions Heliograph", () => {
    const smpp = files.filter((file) => file.startsWith("src/smpp/"));
    expect(smpp.length).toBeGreaterThan(10);
    const packages = smpp.flatMap((file) =>
      [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*"([^."][^"]*)"/g)].map((match) => match[1] ?? ""),
    );
    expect(packages.filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect(smpp.filter((file) => /heliograph/i.test(textOf(file)))).toEqual([]);
  });

  test("the SQLite threads import only Node: a query builder would take most of their start", () => {
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

  test("only the entry points read the environment or end the process", () => {
    const reading = files.filter((file) => /process\.(env|exit|execve)\b/.test(textOf(file)));
    expect(reading).toEqual(["src/cli/heliograph.ts", "src/lib/end-process.ts", "src/main.ts"]);
    const ending = files.filter((file) => /\bendProcess\(/.test(textOf(file)));
    expect(ending).toEqual(["src/lib/end-process.ts", "src/main.ts"]);
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

  test("no two exported types share a name, except those of smpp/, which can be published alone", () => {
    const filesOf = new Map<string, string[]>();
    for (const file of files.filter((name) => !name.startsWith("src/smpp/")))
      for (const [, name = ""] of textOf(file).matchAll(/^export (?:abstract )?(?:type|interface|class) (\w+)/gm))
        filesOf.set(name, [...(filesOf.get(name) ?? []), file]);
    expect(filesOf.size).toBeGreaterThan(500);
    expect([...filesOf].filter(([, owners]) => owners.length > 1)).toEqual([]);
  });

  describe("the Next: links", () => {
    const links = files.flatMap((file) =>
      [...textOf(file).matchAll(/Next: (\S+\.ts)/g)].map((match) => `${file} → ${match[1]}`),
    );
    const linksOf = (...way: readonly string[]): string[] =>
      way.slice(1).map((next, index) => `src/${way[index]} → src/${next}`);

    test("name files that exist", () => {
      const missing = links.filter((link) => !existsSync(join(ROOT, link.split(" → ")[1] ?? "")));
      expect(missing).toEqual([]);
    });

    test.each([
      ["sms", "sms"],
      ["chatapp", "chat"],
      ["rcs", "rcs"],
    ])("lead from the first byte of a request on %s to the commit", (channel, prepare) => {
      const way = linksOf(
        "http/fast-path/connection-thread/worker.ts",
        "http/fast-path/connection-thread/connection-thread.ts",
        "http/fast-path/connection-thread/proxied-socket.ts",
        "http/fast-path/connection.ts",
        "http/fast-path/send-request.ts",
        "http/public/send.ts",
        `http/public/${channel}.ts`,
        `channels/${channel}/read.ts`,
        `pipeline/accept/prepare-${prepare}.ts`,
        `channels/${channel}/compose.ts`,
        "pipeline/policy/check.ts",
        "pipeline/accept/accept.ts",
        "pipeline/group-commit.ts",
        "store/sqlite/thread.ts",
        "store/sqlite/writer.ts",
        "store/sqlite/commands.ts",
        "store/sqlite/accept.ts",
      );
      expect(links).toEqual(expect.arrayContaining(way));
    });

    test("lead from the group commit to its batcher, to PostgreSQL and to the transitions", () => {
      const way = [
        ...linksOf("pipeline/group-commit.ts", "lib/batcher.ts"),
        ...linksOf("pipeline/group-commit.ts", "store/postgres/accept.ts"),
        ...linksOf("store/sqlite/commands.ts", "store/sqlite/transition.ts"),
      ];
      expect(links).toEqual(expect.arrayContaining(way));
    });

    test("lead from the accepted message to the customer's 200", () => {
      const way = linksOf(
        "pipeline/accept/accept.ts",
        "pipeline/dispatch/dispatch.ts",
        "pipeline/dispatch/record-outcome.ts",
        "pipeline/receipts/receive-receipt.ts",
        "pipeline/receipts/apply-receipt.ts",
        "webhooks/plan.ts",
        "webhooks/dispatcher.ts",
        "webhooks/endpoint-queue.ts",
        "webhooks/deliver.ts",
        "webhooks/transport/thread.ts",
        "webhooks/transport/worker.ts",
      );
      expect(links).toEqual(
        expect.arrayContaining([...way, ...linksOf("pipeline/dispatch/dispatch.ts", "carriers/carrier.ts")]),
      );
    });
  });
});
