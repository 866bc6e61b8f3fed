import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error a script without types
import { buildDocs } from "../../scripts/build-docs.mjs";
import { curlOf } from "../../src/http/openapi/curl.ts";
import type { OpenApi, Operation } from "../../src/http/openapi/document.ts";
import { errorsTable, messageFailuresTable } from "../../src/http/openapi/errors-table.ts";
import { codes, WITHOUT_OPERATION } from "../../src/http/openapi/failures.ts";
import { fieldsOf } from "../../src/http/openapi/fields.ts";
import { describeApi } from "../../src/http/openapi/openapi.ts";
import { failureCodes } from "../../src/http/openapi/message-failures.ts";
import {
  bodyOf,
  failuresOf,
  isForPeople,
  listOperations,
  scopeOf,
  successOf,
  type Placed,
} from "../../src/http/openapi/operations.ts";
import { samplesOf } from "../../src/http/openapi/request-samples.ts";
import { rolesTable } from "../../src/http/openapi/roles-table.ts";
import type { SearchEntry } from "../../src/http/openapi/search-index.ts";
import { isPersonal, roleOf, type Route } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { DEFAULT_SMS_LIMITS } from "../../src/model/message.ts";
import { CHANNEL_EVENTS } from "../../src/model/callback.ts";
import { PROBLEMS, type ProblemCode } from "../../src/model/problem.ts";
import { faultFinder } from "../support/api-document.ts";
import { eventually } from "../support/eventually.ts";
import { inPath } from "../support/programmes.ts";
import { startTestServer, type Answer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let document: OpenApi;
let faultsOf: (schema: object, value: unknown) => unknown[];

beforeAll(async () => {
  await buildDocs();
  server = await startTestServer("sqlite");
  document = (await server.request<OpenApi>("GET", "/openapi.json")).body;
  faultsOf = faultFinder(document);
});

afterAll(async () => {
  await server.close();
});

const shownRoutes = ROUTES.filter((route) => !route.hidden);
const nameOf = ({ method, path }: Pick<Placed, "method" | "path">): string => `${method.toUpperCase()} ${path}`;
const published = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}");

const isPeopleOnly = (route: Route): boolean => "peopleOnly" in route;

const everyOperation = (): Placed[] => [...listOperations(document.paths), ...listOperations(document.webhooks)];

describe("the OpenAPI document", () => {
  test("the OpenAPI document has every operation of the route table and no page", () => {
    const inDocument = listOperations(document.paths).map(nameOf).toSorted();
    const inTable = shownRoutes.map(({ method, path }) => `${method} ${published(path)}`).toSorted();
    expect(inDocument).toEqual(inTable);
    const { paths } = describeApi(ROUTES, { baseUrl: server.url, version: "1", limits: DEFAULT_SMS_LIMITS });
    expect(paths).toEqual(document.paths);
  });

  test("the OpenAPI document has the version and the URL of the server", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    expect(document).toMatchObject({ openapi: "3.1.1", info: { version }, servers: [{ url: server.url }] });
  });

  test("the OpenAPI document names every operation once, under an existing tag", () => {
    const operations = everyOperation().map(({ operation }) => operation);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const headings = new Set([...document.tags.map(({ name }) => name), "Callbacks"]);
    for (const { operationId, tags, summary, description } of operations) {
      expect(operationId).toMatch(/^[a-z][A-Za-z0-9]*$/);
      expect(headings).toContain(tags[0]);
      expect(summary).not.toBe("");
      expect(description).not.toBe("");
    }
  });

  test("every summary is an imperative of at most six words, and every description is plain", () => {
    for (const { path, operation } of listOperations(document.paths)) {
      const { summary, description } = operation;
      expect(`${path}: ${summary}`).toMatch(/: [A-Z]\S*( \S+){0,5}$/);
      expect(`${path}: ${summary}`).not.toMatch(/: (Tell|Make|Mend|Whether|What|Who|How|Is|Can)\b/);
      expect(`${path}: ${description}`).not.toMatch(/\b(mend|tells?|told|nobody|somebody|whoever)\b/i);
    }
  });

  test("the OpenAPI document requires a key with a scope exactly where the server does", () => {
    const inDocument = listOperations(document.paths).map((placed) => [nameOf(placed), scopeOf(placed.operation)]);
    const inTable = shownRoutes.map((route) => [
      `${route.method} ${published(route.path)}`,
      isPeopleOnly(route) ? null : route.scope,
    ]);
    expect(Object.fromEntries(inDocument)).toEqual(Object.fromEntries(inTable));
  });

  test("the OpenAPI document names the role of every operation as the server requires it", () => {
    const inDocument = listOperations(document.paths).map((placed) => [nameOf(placed), placed.operation["x-role"]]);
    const inTable = shownRoutes.map((route) => [
      `${route.method} ${published(route.path)}`,
      route.scope === null ? undefined : roleOf(route),
    ]);
    expect(Object.fromEntries(inDocument)).toEqual(Object.fromEntries(inTable));
    const forPeople = listOperations(document.paths).filter(({ operation }) => isForPeople(operation));
    expect(forPeople.map(nameOf).toSorted()).toEqual(
      shownRoutes
        .filter((route) => isPersonal(route) || isPeopleOnly(route))
        .map(({ method, path }) => `${method} ${published(path)}`)
        .toSorted(),
    );
  });

  test("the OpenAPI document declares exactly the parameters of each path, each with an example", () => {
    for (const { path, operation } of listOperations(document.paths)) {
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(declared.map(({ name }) => name)).toEqual(path.match(/(?<=\{)\w+/g) ?? []);
      for (const { example, required } of declared) expect([typeof example, required]).toEqual(["string", true]);
    }
  });

  test("the OpenAPI document has an Idempotency-Key on every send", () => {
    const takers = listOperations(document.paths).filter(({ operation }) =>
      operation.parameters?.some((parameter) => parameter.in === "header" && parameter.name === "Idempotency-Key"),
    );
    expect(takers.map(nameOf)).toContain("POST /v1/sms");
    for (const { operation } of takers)
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["409", "422"]));
  });

  test("the OpenAPI document describes every field and parameter", () => {
    const { schemas } = document.components;
    const silent = everyOperation().flatMap((placed) => {
      const { operation } = placed;
      const fields = [bodyOf(operation), successOf(operation)].flatMap((told) =>
        told ? fieldsOf(told.schema, schemas) : [],
      );
      return [...fields, ...(operation.parameters ?? [])]
        .filter(({ description }) => description === "")
        .map(({ name }) => `${nameOf(placed)}: ${name}`);
    });
    expect(silent).toEqual([]);
  });

  test("the OpenAPI document has no dangling reference", () => {
    const lost: string[] = [];
    walk(document, (value) => {
      const { $ref } = value as { $ref?: string };
      if ($ref !== undefined && follow($ref) === undefined) lost.push($ref);
    });
    expect(lost).toEqual([]);
  });

  test("every code of the error registry is the failure of some operation", () => {
    const shown = new Set(
      listOperations(document.paths).flatMap(({ operation }) => failuresOf(operation).map(({ code }) => code)),
    );
    expect([...shown, ...WITHOUT_OPERATION].toSorted()).toEqual(codes().toSorted());
  });

  test("the OpenAPI document has every callback with its signature, one for each webhook event", () => {
    expect(listOperations(document.webhooks).map(nameOf).toSorted()).toEqual([
      "GET smsDeliveryReport",
      "POST chatMessageSent",
      "POST chatMessageStatus",
      "POST chatUserMessage",
      "POST rcsMessageStatus",
      "POST rcsUserMessage",
      "POST smsDeliveryReport",
      "POST smsDeliveryReportEvent",
      "POST smsLinkClick",
      "POST smsUserMessage",
      "POST systemAlertStatus",
      "POST verifyVerificationStatus",
    ]);
    for (const { operation } of listOperations(document.webhooks)) {
      const headers = (operation.parameters ?? []).filter((parameter) => parameter.in === "header");
      expect(headers.map(({ name }) => name)).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
      expect(operation.description).not.toContain("planned");
    }
    const shown = listOperations(document.webhooks).flatMap(({ operation }) =>
      (bodyOf(operation)?.examples ?? []).map(([, body]) => body as { channel?: string; event?: string }),
    );
    const events = new Set(shown.flatMap(({ channel, event }) => (event ? [`${channel} ${event}`] : [])));
    const known = Object.entries(CHANNEL_EVENTS).flatMap(([channel, all]) => all.map((event) => `${channel} ${event}`));
    expect([...events].toSorted()).toEqual(known.toSorted());
  });
});

describe("the examples of the document", () => {
  test("every operation has an example of its body and of its response", () => {
    const unasked = everyOperation().filter(
      ({ operation }) => operation.requestBody && bodyOf(operation)?.examples.length === 0,
    );
    const unanswered = listOperations(document.paths).filter(
      ({ operation }) => successOf(operation)?.example === undefined,
    );
    expect([...unasked, ...unanswered].map(nameOf)).toEqual([]);
  });

  test("every example of a body and of a success matches its schema", () => {
    const unfit = everyOperation().flatMap((placed) => {
      const body = bodyOf(placed.operation);
      const success = successOf(placed.operation);
      const examples = [
        ...(body?.examples ?? []).map(([name, value]) => ({ name, value, schema: body?.schema ?? {} })),
        ...(success ? [{ name: "answer", value: success.example, schema: success.schema }] : []),
      ];
      return examples
        .map(({ name, value, schema }) => ({ example: `${nameOf(placed)}: ${name}`, faults: faultsOf(schema, value) }))
        .filter(({ faults }) => faults.length > 0);
    });
    expect(unfit).toEqual([]);
  });

  test("every example of a failure matches its schema and links to its page on this server", () => {
    const answers = listOperations(document.paths).flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content }]) => {
        const { schema = {}, examples = {} } = content?.["application/json"] ?? {};
        return Object.entries(examples).map(([code, example]) => ({ status, code, schema, example }));
      }),
    );
    expect(answers.length).toBeGreaterThan(codes().length);
    for (const { status, code, schema, example } of answers) {
      const { value } = follow((example as { $ref: string }).$ref) as { value: { error: object } };
      expect(faultsOf(schema, value)).toEqual([]);
      expect(value.error).toMatchObject({ code, reference: `${server.url}/docs/errors/${code}` });
      expect(status).toBe(String(PROBLEMS[code as ProblemCode].status));
    }
  });

  test("no schema of a body accepts any value", () => {
    const bodies = listOperations(document.paths).flatMap(({ operation }) => bodyOf(operation) ?? []);
    expect(bodies.length).toBeGreaterThan(0);
    for (const { schema } of bodies) expect(faultsOf(schema, "a text")).not.toEqual([]);
  });
});

describe("a curl command of the reference", () => {
  /** The arguments that a shell passes to curl. */
  const argumentsOf = (command: string): string[] => {
    const script = `curl() { for argument in "$@"; do printf '%s\\0' "$argument"; done; }\nHELIOGRAPH_KEY=secret\n${command}`;
    return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
  };

  test("a curl command passes its body through the shell unchanged", () => {
    const placed = listOperations(document.paths).find((found) => nameOf(found) === "POST /v1/sms") as Placed;
    const body = { text: `it's $HOME, "quoted" \\ and \`ticked\`\nin two lines` };
    const told = argumentsOf(curlOf({ ...placed, baseUrl: server.url, body }));
    expect(told.slice(0, 5)).toEqual([
      `${server.url}/v1/sms`,
      "-H",
      "apikey: secret",
      "-H",
      "Content-Type: application/json",
    ]);
    expect(JSON.parse(told.at(-1) ?? "")).toEqual(body);
  });

  test("a curl command names the method if it is not curl's default, and the query if there is one", () => {
    const command = (name: string, body?: unknown): string[] => {
      const placed = listOperations(document.paths).find((found) => nameOf(found) === name) as Placed;
      return argumentsOf(curlOf({ ...placed, baseUrl: server.url, body }));
    };
    expect(command("DELETE /api/keys/{id}").slice(0, 2)).toEqual(["-X", "DELETE"]);
    expect(command("PATCH /api/account", {}).slice(0, 2)).toEqual(["-X", "PATCH"]);
    expect(command("GET /api/simulator/messages/wait")[0]).toBe(
      `${server.url}/api/simulator/messages/wait?to=15550100100`,
    );
    expect(command("GET /api/simulator/events")[0]).toBe("-N");
    expect(command("GET /healthz")).toEqual([`${server.url}/healthz`]);
  });
});

describe("a sample of the reference", () => {
  const sms = (): Placed => listOperations(document.paths).find((found) => nameOf(found) === "POST /v1/sms") as Placed;
  const body = {
    sender: "HELIOG",
    to: "15550100100",
    text: 'it\'s $HOME, "quoted" \\ and `ticked`\nin two lines: true, null 😀',
    type: "TRANS",
    unicode: 1,
  };
  const codeIn = (id: string, placed: Placed, given?: unknown): string =>
    samplesOf({ ...placed, baseUrl: server.url, body: given }).find((sample) => sample.id === id)?.code ?? "";
  const run = (command: string, ...args: string[]): Promise<{ stdout: string }> =>
    // Not synchronously: the server answers in this process.
    promisify(execFile)(command, args, { env: { ...process.env, HELIOGRAPH_KEY: server.testKey } });

  test.for([
    ["curl", "sh", "-c"],
    ["typescript", process.execPath, "-e"],
    ["python", "python3", "-c"],
  ] as const)("a sample in %s sends its body unchanged", async ([id, command, flag]) => {
    const text = `${id}: ${body.text}`;
    // A busy server refuses a request that has waited too long.
    await eventually(
      () =>
        run(command, flag, codeIn(id, sms(), { ...body, text })).catch((error: Error) => ({ stdout: error.message })),
      ({ stdout }) => stdout.includes("Message Sent Successfully!"),
    );
    const onPhone = (): Promise<Answer<{ data: { text: string }[] }>> =>
      server.request("GET", "/api/simulator/phones/15550100100/messages", undefined, { apikey: server.testKey });
    const received = await eventually(onPhone, (answer) => answer.body.data.some((message) => message.text === text));
    expect(received.status).toBe(200);
  });

  test("a sample in Go keeps backquotes in a raw string", () => {
    expect(codeIn("go", sms(), body)).toContain('and ` + "`" + `ticked` + "`" + `');
  });

  test.runIf(inPath("gofmt") !== undefined)("a sample in Go is formatted Go", async () => {
    const folder = await mkdtemp(join(tmpdir(), "heliograph-sample-"));
    const file = join(folder, "main.go");
    await writeFile(file, `${codeIn("go", sms(), body)}\n`);
    expect((await run("gofmt", "-l", "-e", file)).stdout).toBe("");
    await rm(folder, { recursive: true });
  });

  test("a sample in PHP has its body in a text that keeps every character", () => {
    const code = codeIn("php", sms(), body);
    const [, text = ""] = /^\$body = <<<'JSON'\n([\s\S]*)\nJSON;$/m.exec(code) ?? [];
    expect(JSON.parse(text)).toEqual(body);
    expect(code).toContain("CURLOPT_HTTPHEADER => [\n        'apikey: ' . getenv('HELIOGRAPH_KEY'),");
  });

  test("a sample of an operation for people reads session and token from variables", () => {
    const placed = everyOperation().find((found) => nameOf(found) === "DELETE /api/session") as Placed;
    expect(codeIn("typescript", placed)).toContain('"cookie": "heliograph_session=" + (env.SESSION ?? "")');
    expect(codeIn("python", placed)).toContain('"x-csrf-token": os.environ["CSRF_TOKEN"]');
    expect(codeIn("go", placed)).toContain('Header.Set("cookie", "heliograph_session="+os.Getenv("SESSION"))');
  });
});

describe("the documentation pages", () => {
  const open = async (path: string): Promise<{ status: number; headers: Headers; text: string }> => {
    // Server and client share this event loop. If an earlier test blocked it for longer than the keep-alive time, the
    // server's idle timer fires now and would reset the reused connection.
    await sleep(1);
    const response = await fetch(server.url + path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  test.for([
    "/docs",
    "/docs/reference",
    "/docs/reference/sms",
    "/docs/guides/install",
    "/docs/errors",
    "/docs/errors/UNAUTHORIZED",
    "/docs/errors/nothing",
    "/docs/guides/nothing",
  ])("%s is HTML that may run only our own script and call only this server", async (path) => {
    const { headers, text } = await open(path);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(text).not.toMatch(/<style|<[^>]+\s(?:style|on\w+)=|<!--/i);
    expect(text).not.toMatch(/(?:href|src)="javascript:/i);
    expect(text.match(/<script[^>]*>/g)).toEqual([
      expect.stringMatching(/^<script src="\/docs\/site\.js\?v=[0-9a-f]{10}" type="module">$/),
    ]);
  });

  test("the documentation pages have no dead links, and lead to every guide, operation and code", async () => {
    const seen = new Map<string, string>();
    const waiting = [new URL("/docs", server.url)];
    const lost: string[] = [];
    for (let link = waiting.pop(); link !== undefined; link = waiting.pop()) {
      const { pathname, search, hash, origin } = link;
      // A page of the dashboard: the browser tests follow this link.
      if (origin !== server.url || pathname === "/" || pathname.startsWith("/developers/")) continue;
      if (!seen.has(pathname)) {
        const { status, headers, text } = await open(pathname + search);
        if (status !== 200) lost.push(link.href);
        const isPage = headers.get("content-type")?.startsWith("text/html") === true;
        seen.set(pathname, isPage ? text : "");
        for (const [, href = ""] of isPage ? text.matchAll(/<(?:a|img)\b[^>]*?(?:href|src)="([^"]*)"/g) : []) {
          waiting.push(new URL(href, server.url + pathname));
        }
      }
      const anchor = decodeURIComponent(hash.slice(1));
      if (anchor !== "" && !seen.get(pathname)?.includes(`id="${anchor}"`)) lost.push(link.href);
    }
    expect(lost).toEqual([]);
    const guides = (await readdir("docs")).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining([
        "/docs/errors",
        "/openapi.json",
        "/readyz",
        "/metrics",
        ...guides.map((name) => `/docs/guides/${name}`),
        ...[...codes(), ...failureCodes()].map((code) => `/docs/errors/${code}`),
      ]),
    );
    const text = [...seen.values()].join("\n");
    for (const { operation } of everyOperation())
      expect(text).toContain(`<article class="operation" id="${operation.operationId}"`);
  });

  test("the reference shows every operation with its path, access, fields, and every example in five languages", async () => {
    const { schemas } = document.components;
    for (const placed of listOperations(document.paths)) {
      const { operation, path } = placed;
      const { text } = await open(`/docs/reference/${operation.tags[0]?.toLowerCase().replaceAll(/\W+/g, "-")}`);
      const start = text.indexOf(`<article class="operation" id="${operation.operationId}"`);
      const article = text.slice(start, text.indexOf("</article>", start));
      const words = plain(article);
      expect(article).toContain(`<code>${path}</code>`);
      expect(article).toContain(accessOf(operation));
      for (const part of [bodyOf(operation), successOf(operation)])
        for (const { name } of part ? fieldsOf(part.schema, schemas) : []) expect(words).toContain(name);
      for (const [, body] of bodyOf(operation)?.examples ?? [["", undefined]])
        for (const { code } of samplesOf({ ...placed, baseUrl: server.url, body })) expect(words).toContain(code);
    }
  });

  test("addresses of the reference's first form still name a place", async () => {
    const { text } = await open("/docs/reference");
    const old = ["authentication", "idempotency", "failures", "webhooks", "simulated-phones"];
    for (const id of [...old, ...everyOperation().map(({ operation }) => operation.operationId)])
      expect(text).toContain(`id="${id}"`);
  });

  test("the reference lists the scripted outcome of every magic number", async () => {
    const { text } = await open("/docs/reference");
    for (let ending = 9001; ending <= 9009; ending += 1) expect(text).toContain(`<code>${ending}</code>`);
  });

  test("the search index has every operation, every code and every section of the guides", async () => {
    const index = JSON.parse((await open("/docs/search.json")).text) as SearchEntry[];
    const addresses = index.map(([, , address]) => address);
    for (const { operation } of everyOperation())
      expect(addresses).toContainEqual(expect.stringMatching(new RegExp(`^reference/.*#${operation.operationId}$`)));
    for (const code of [...codes(), ...failureCodes()]) expect(addresses).toContain(`errors/${code}`);
    for (const name of (await readdir("docs")).filter((file) => file.endsWith(".md"))) {
      const text = (await readFile(`docs/${name}`, "utf8")).replaceAll(/^ *```[\s\S]*?^ *```/gm, "");
      const headings = text.match(/^#{1,6} /gm) ?? [];
      const found = addresses.filter((address) => address.split("#")[0] === `guides/${name.slice(0, -3)}`);
      expect([name, found.length]).toEqual([name, headings.length]);
    }
    const sections = index.filter(([, , address]) => address === "guides/serving#certificates-by-acme");
    expect(sections.map(([kind, title]) => [kind, title])).toEqual([["Guide", "Serving: Certificates by ACME"]]);
    expect(sections[0]?.[4].split(" ")).toContain("acme");
  });

  test("files whose address contains a hash are cached for ever, pages for a minute", async () => {
    const { text } = await open("/docs/guides/performance");
    const image = /src="\.\.(\/files\/[^"]+\.svg)"/.exec(text)?.[1];
    const style = /href="(\/docs\/style\.css[^"]+)"/.exec(text)?.[1] ?? "";
    for (const path of [`/docs${image}`, style]) {
      const { status, headers } = await open(path);
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    }
    expect((await open("/docs/guides/performance")).headers.get("cache-control")).toBe("public, max-age=60");
  });

  test.for(["guides.json", "made-of", "..%2Findex.html", "..%2F..%2F..%2Fpackage.json", "x.svg"])(
    "the file %s is not an image of a guide",
    async (name) => {
      expect((await open(`/docs/files/${name}`)).status).toBe(404);
    },
  );

  test("an error's reference page has its cause and its fix", async () => {
    const { body } = await server.request<{ error: { reference: string } }>("GET", "/no-where");
    const response = await fetch(body.error.reference);
    expect(response.status).toBe(200);
    const text = await response.text();
    for (const part of ["ROUTE_NOT_FOUND", "Cause", "Fix", "HTTP 404 Not Found"]) expect(text).toContain(part);
  });

  test("the page of a code that is also a message failure explains both", async () => {
    const { text } = await open("/docs/errors/INVALID_RECIPIENT");
    expect(text).toContain("HTTP 400 Bad Request");
    expect(text).toContain("As a message failure");
  });

  test("an unknown error code is 404, escaped as text", async () => {
    const { status, text } = await open(`/docs/errors/${encodeURIComponent(`"><script>alert('1')</script>&`)}`);
    expect(status).toBe(404);
    expect(text).toContain("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;");
    expect(text).toContain('href="/docs/errors"');
  });

  test.for(["guides", "reference"])("an unknown page of the %s is 404, escaped as text", async (part) => {
    const { status, text } = await open(`/docs/${part}/${encodeURIComponent(`"><script>alert('1')</script>`)}`);
    expect(status).toBe(404);
    expect(text).toContain("&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
  });

  test("the first page shows the first command and no key", async () => {
    const { text } = await open("/docs");
    const placed = listOperations(document.paths).find((found) => nameOf(found) === "POST /v1/sms") as Placed;
    expect(plain(text)).toContain(
      curlOf({ ...placed, baseUrl: server.url, body: bodyOf(placed.operation)?.examples[0]?.[1] }),
    );
    expect(text).not.toContain(server.key);
    expect(text).not.toContain(server.testKey);
  });

  test("behind the path prefix of a proxy, links and URLs start with it", async () => {
    const below = await startTestServer("sqlite", { env: { HELIOGRAPH_BASE_URL: "https://example.test/relay" } });
    try {
      const text = await (await fetch(`${below.url}/docs/reference/sms`)).text();
      expect(text).toContain('href="/relay/docs/style.css?v=');
      expect(text).not.toMatch(/(?:href|src|data-path)="\/(?!relay\/)/);
      expect(text).toContain("curl https://example.test/relay/v1/sms");
      expect(text).toContain('data-path="/relay/v1/sms"');
      const guide = await (await fetch(`${below.url}/docs/guides/sending`)).text();
      expect(guide).not.toMatch(/(?:href|src)="\/(?!relay\/)/);
      const { body } = await below.request<OpenApi>("GET", "/openapi.json");
      expect(body.servers).toEqual([{ url: "https://example.test/relay", description: "This server." }]);
    } finally {
      await below.close();
    }
  });
});

const between = (text: string, name: string): string | undefined =>
  text.split(`<!-- ${name}:begin -->`)[1]?.split(`<!-- ${name}:end -->`)[0]?.trim();

describe("docs/users.md", () => {
  test("docs/users.md lists exactly the roles that the routes require", async () => {
    expect(between(await readFile("docs/users.md", "utf8"), "roles")).toBe(rolesTable(ROUTES));
  });
});

describe("the registry of errors", () => {
  test.for(codes())("the error %s is explained in plain words", (code) => {
    const { message, cause, fix } = PROBLEMS[code];
    for (const text of [message, cause, fix])
      expect(text).not.toMatch(/\b(mend|nobody|somebody|whoever|anew|make a|makes a|tells?|told)\b/i);
  });
});

describe("docs/errors.md", () => {
  test("docs/errors.md has exactly the codes of the registry", async () => {
    expect(between(await readFile("docs/errors.md", "utf8"), "errors")).toBe(errorsTable());
  });

  test("docs/errors.md has exactly the failures of messages", async () => {
    expect(between(await readFile("docs/errors.md", "utf8"), "failures")).toBe(messageFailuresTable());
  });
});

/** The required access, as the page shows it. */
function accessOf(operation: Operation): string {
  if (isForPeople(operation)) return "Login required";
  return scopeOf(operation) === null ? "No key needed" : `Scope <code>${scopeOf(operation)}</code>`;
}

function walk(value: unknown, see: (object: object) => void): void {
  if (typeof value !== "object" || value === null) return;
  see(value);
  for (const part of Object.values(value)) walk(part, see);
}

/** The value at a `#/…` reference in the document. */
const follow = (reference: string): unknown =>
  reference
    .split("/")
    .slice(1)
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** The text of a page as a reader sees it. */
const plain = (text: string): string =>
  text.replaceAll(/<[^>]*>/g, "").replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
