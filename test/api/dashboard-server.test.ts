import { execFile } from "node:child_process";
import type { Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isCode } from "../../src/links/code.ts";
import { logIn } from "../support/session-user.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const ROOT = join(import.meta.dirname, "../..");
const DIST = join(ROOT, "dashboard/dist");
/** Maximum download before a page shows; carriers, whose form has the fields of every protocol, have a little more. */
const FIRST_LOAD_KB = 250;
const CARRIERS_LOAD_KB = 255;

interface Chunk {
  file: string;
  isEntry?: true;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}

const build = (): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [join(ROOT, "scripts/build-dashboard.mjs")]);

let server: TestServer;
let manifest: Record<string, Chunk>;

beforeAll(async () => {
  await build();
  server = await startTestServer("sqlite", { env: { HELIOGRAPH_ADMIN_PASSWORD: OWNER.password } });
  manifest = JSON.parse(await readFile(join(DIST, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
});
afterAll(() => server?.close());

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** As it goes over the line: `fetch` would unpack it. */
const ask = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asked = request(server.url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });

const OWNER = { email: "admin@localhost", password: "password of the owner" };
const HTML = { accept: "text/html,application/xhtml+xml" };

test("an up-to-date build is not repeated", async () => {
  const { stdout } = await build();
  expect(stdout).toBe("");
});

describe("the dashboard page", () => {
  test("is served at every dashboard URL and never cached", async () => {
    for (const path of ["/", "/messages", "/messages/0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1?x=1", "/a/b/c"]) {
      const { status, headers, body } = await ask(path, HTML);
      expect([path, status]).toEqual([path, 200]);
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(headers["cache-control"]).toBe("no-store");
      expect(body.toString()).toContain('<div id="root">');
    }
  });

  test("allows only its own scripts, styles with its nonce, and no other origin", async () => {
    const [one, two] = [await ask("/", HTML), await ask("/", HTML)];
    const policy = String(one.headers["content-security-policy"]);
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(one.body.toString()).toContain(`<meta property="csp-nonce" nonce="${nonce}">`);
    expect(two.body.toString()).not.toContain(nonce);
    expect(one.headers["x-content-type-options"]).toBe("nosniff");
    expect(one.headers["referrer-policy"]).toBe("no-referrer");
    expect(one.body.toString()).not.toMatch(/<script(?![^>]* src=)|<style| style=/);
  });

  test("reads long lists compressed, and programs and navigations of other sites read them plain", async () => {
    // They wait, so that the list stays the same.
    const sendAt = Date.now() + 3_600_000;
    await server.send({ to: Array.from({ length: 50 }, (_, n) => String(15550117000 + n)), sendAt });
    const owner = await logIn(server.url, OWNER);
    const read = (headers: Record<string, string>): Promise<Answer> => ask("/api/messages", headers);
    const asked = { cookie: owner.cookie, accept: "application/json", "accept-encoding": "gzip, br" };
    const plain = await read({ cookie: owner.cookie, accept: "application/json" });
    const brotli = await read(asked);
    const gzip = await read({ ...asked, "accept-encoding": "gzip" });
    expect([brotli.headers["content-encoding"], gzip.headers["content-encoding"]]).toEqual(["br", "gzip"]);
    expect(brotli.headers["vary"]).toBe("accept-encoding");
    // On a busy machine a page has a cursor although it is the last.
    const rowsOf = (body: Buffer): unknown => (JSON.parse(body.toString()) as { data: unknown }).data;
    expect(rowsOf(brotliDecompressSync(brotli.body))).toEqual(rowsOf(plain.body));
    expect(rowsOf(gunzipSync(gzip.body))).toEqual(rowsOf(plain.body));
    expect(brotli.body.length * 5).toBeLessThan(plain.body.length);
    const others = [
      { ...asked, accept: HTML.accept },
      { apikey: server.key, accept: "application/json", "accept-encoding": "gzip, br" },
    ];
    for (const headers of others) expect((await read(headers)).headers["content-encoding"]).toBeUndefined();
    expect((await ask("/api/account", asked)).headers["content-encoding"]).toBeUndefined();
  });

  test("does not replace API errors: an unknown path is a 404 in JSON", async () => {
    for (const path of ["/api/nowhere", "/v1/nowhere", "/docs/nowhere", "/assets/nowhere.js"]) {
      const { status, headers } = await ask(path, HTML);
      expect([path, status, headers["content-type"]]).toEqual([path, 404, "application/json; charset=utf-8"]);
    }
    expect((await ask("/messages")).status).toBe(404);
    expect((await ask("/messages", HTML, "POST")).status).toBe(404);
  });

  test("has no URL that could be the code of a short link", async () => {
    const source = await readFile(join(ROOT, "dashboard/src/pages.ts"), "utf8");
    const paths = [...source.matchAll(/page\("([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => isCode(path.slice(1)))).toEqual([]);
  });

  test("works below the path prefix of a proxy", async () => {
    const below = await startTestServer("sqlite", { env: { HELIOGRAPH_BASE_URL: "https://example.com/messaging" } });
    try {
      const text = await (await fetch(`${below.url}/`, { headers: HTML })).text();
      expect(text).toContain('<base href="/messaging/" />');
      expect(text).toContain('src="./assets/');
    } finally {
      await below.close();
    }
  });
});

describe("a dashboard file", () => {
  test("is cached for ever and sent in the smallest accepted encoding", async () => {
    const path = `/${manifest["src/shell.tsx"]?.file}`;
    const plain = await ask(path);
    expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(plain.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(plain.headers.vary).toBe("accept-encoding");
    const brotli = await ask(path, { "accept-encoding": "gzip, deflate, br, zstd" });
    expect(brotli.headers["content-encoding"]).toBe("br");
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    const gzip = await ask(path, { "accept-encoding": "gzip" });
    expect(gzip.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(brotli.body.length).toBeLessThan(plain.body.length / 2);
  });

  test("is also served as /favicon.ico, which browsers request on their own", async () => {
    const icon = await ask("/favicon.svg");
    const asked = await ask("/favicon.ico");
    expect([asked.status, asked.headers["content-type"]]).toEqual([200, "image/svg+xml"]);
    expect(asked.body.equals(icon.body)).toBe(true);
  });

  test("is never a file outside the build (path traversal)", async () => {
    for (const name of ["..%2Findex.html", "%2e%2e%2fmade-of", "..%2f..%2f..%2fpackage.json", ".vite", "%00"])
      expect([name, (await ask(`/assets/${name}`)).status]).toEqual([name, 404]);
  });
});

interface Composed {
  KINDS: readonly { id: string; channel: string }[];
  exampleOf(kind: object): object;
  requestOf(kind: object, draft: object): { path: string; body: object };
}

test("the composer has all 24 kinds of messages, and each example is accepted", async () => {
  const of = (file: string): Promise<Composed> =>
    import(pathToFileURL(join(ROOT, "dashboard/src/pages/compose", file)).href) as Promise<Composed>;
  const [{ KINDS, exampleOf }, { requestOf }] = [await of("kinds.ts"), await of("body.ts")];
  const answers = await Promise.all(
    KINDS.map(async (kind) => {
      const { path, body } = requestOf(kind, exampleOf(kind));
      const { status } = await server.request("POST", path, body);
      return [kind.id, status];
    }),
  );
  expect(answers).toEqual(KINDS.map(({ id }) => [id, 200]));
  const count = (channel: string): number => KINDS.filter((kind) => kind.channel === channel).length;
  expect([count("sms"), count("rcs"), count("chatapp")]).toEqual([8, 7, 9]);
});

describe("the size of the first load of the dashboard", () => {
  /** A chunk with everything that it cannot do without. */
  function filesOf(name: string, found = new Set<string>()): Set<string> {
    const { file, imports = [], css = [] } = manifest[name] ?? { file: "" };
    if (found.has(file)) return found;
    for (const each of [file, ...css]) found.add(each);
    for (const each of imports) filesOf(each, found);
    return found;
  }

  /** A file as browsers get it: in brotli, unless it is too small to be compressed. */
  const sent = (file: string): Promise<Stats> => stat(join(DIST, `${file}.br`)).catch(() => stat(join(DIST, file)));

  const bytesOf = async (files: Iterable<string>): Promise<number> => {
    const sizes = await Promise.all([...files].map(async (file) => (await sent(file)).size));
    return sizes.reduce((sum, size) => sum + size, 0);
  };

  const kilobytesOf = async (page: string): Promise<number> => {
    const style = manifest["style.css"]?.file ?? "";
    const files = filesOf(page, filesOf("src/shell.tsx", filesOf("src/mount.tsx", filesOf("index.html"))));
    return Math.ceil((await bytesOf(files.add(style))) / 1024);
  };

  test("the first load of a page is at most 250 KB, with styles and shell", async () => {
    const pages = [
      ...(manifest["src/shell.tsx"]?.dynamicImports?.filter((name) => name.startsWith("src/pages/")) ?? []),
      "src/pages/login.tsx",
    ];
    expect(pages).toContain("src/pages/messages/messages.tsx");
    expect(pages.length).toBeGreaterThan(30);
    const sizes = await Promise.all(pages.map(async (name) => [name, await kilobytesOf(name)] as const));
    const limitOf = (page: string): number =>
      page === "src/pages/carriers/carriers.tsx" ? CARRIERS_LOAD_KB : FIRST_LOAD_KB;
    expect(sizes.filter(([page, kilobytes]) => kilobytes > limitOf(page))).toEqual([]);
  });
});
