// Generates clients from the OpenAPI document, compiles them strictly and calls a live server: npm run check:clients
// Then runs a Postman collection made from the document. npm downloads the generators at pinned versions into a temporary
// folder: they take 250 MB, and two of them do not work with TypeScript 7.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { startServer } from "../test/support/server-process.ts";

const PACKAGES = [
  "typescript@5.9.3",
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "@hey-api/openapi-ts@0.99.0",
  "orval@7.13.2",
  "openapi-to-postmanv2@6.3.3",
  "newman@6.2.2",
];

const SEND = `{ sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" }`;

/** Each sends a message, reads it, and gets a typed refusal. */
const PROGRAMS = {
  "openapi-typescript": `
import createClient from "openapi-fetch";
import type { paths } from "./openapi-typescript.js";
const client = createClient<paths>({ baseUrl: process.env["URL"] ?? "", headers: { apikey: process.env["KEY"] } });
const sent = await client.POST("/v1/sms", { body: ${SEND} });
const messageId = sent.data?.data[0]?.messageId ?? "";
const read = await client.GET("/v1/messages/{messageId}", { params: { path: { messageId } } });
const missing = await client.GET("/v1/messages/{messageId}", { params: { path: { messageId: messageId + "1" } } });
console.log(JSON.stringify([sent.response.status, read.data?.messageId === messageId, missing.error?.error.code]));
`,
  "hey-api": `
import { client } from "./hey-api/client.gen";
import { getMessagesMessageId, postSms, type Failure } from "./hey-api";
client.setConfig({ baseUrl: process.env["URL"] ?? "", headers: { apikey: process.env["KEY"] } });
const sent = await postSms({ body: ${SEND} });
const messageId = sent.data?.data[0]?.messageId ?? "";
const read = await getMessagesMessageId({ path: { messageId } });
const missing = await getMessagesMessageId({ path: { messageId: messageId + "1" } });
// The response 431 has no body, so this generator does not know the type of an error.
const { error } = missing.error as Failure;
console.log(JSON.stringify([sent.response?.status, read.data?.messageId === messageId, error.code]));
`,
  orval: `
import { getMessagesMessageId, postSms } from "./orval";
const plain = globalThis.fetch;
globalThis.fetch = (path, init) => plain(new URL(String(path), process.env["URL"]), init);
const options = { headers: { apikey: process.env["KEY"] ?? "" } };
const sent = await postSms(${SEND}, options);
const messageId = sent.status === 200 ? (sent.data.data[0]?.messageId ?? "") : "";
const read = await getMessagesMessageId(messageId, options);
const missing = await getMessagesMessageId(messageId + "1", options);
console.log(
  JSON.stringify([
    sent.status,
    read.status === 200 && read.data.messageId === messageId,
    missing.status === 404 ? missing.data.error.code : null,
  ]),
);
`,
};
const EXPECTED = JSON.stringify([200, true, "MESSAGE_NOT_FOUND"]);

const print = (line) => void process.stdout.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), "heliograph-clients-"));
const faults = [];

function run(command, words, env = {}) {
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  return { passed: status === 0, output: `${stdout}${stderr}`, stdout };
}

function mustRun(title, command, words) {
  const { passed, output } = run(command, words);
  print(`${passed ? "ok  " : "FAIL"} ${title}`);
  if (!passed) faults.push(`${title}:\n${output.slice(0, 4000)}`);
}

const tool = (name) => join(folder, "node_modules/.bin", name);

writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "clients", private: true, type: "module" }));
mustRun("install the generators", "npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...PACKAGES]);

const server = await startServer();
try {
  const document = await (await fetch(`${server.baseUrl}/openapi.json`)).text();
  writeFileSync(join(folder, "openapi.json"), document);
  mustRun("generate openapi-typescript", tool("openapi-typescript"), ["openapi.json", "-o", "openapi-typescript.ts"]);
  const heyApi = ["-i", "openapi.json", "-o", "hey-api", "-c", "@hey-api/client-fetch"];
  mustRun("generate @hey-api/openapi-ts", tool("openapi-ts"), heyApi);
  mustRun("generate orval", tool("orval"), [
    "--input",
    "./openapi.json",
    "--output",
    "./orval.ts",
    "--client",
    "fetch",
  ]);

  for (const [name, program] of Object.entries(PROGRAMS)) {
    const source = join(folder, `call-${name}.ts`);
    writeFileSync(source, program);
    const types =
      "--strict --noEmit --target es2023 --module esnext --moduleResolution bundler --lib es2023,dom,dom.iterable --types node";
    mustRun(`compile ${name} under strict`, tool("tsc"), [...types.split(" "), source]);
    const file = join(folder, `call-${name}.mjs`);
    try {
      const bundle = await rolldown({ input: source, platform: "node", cwd: folder, logLevel: "silent" });
      await bundle.write({ file });
      await bundle.close();
    } catch (error) {
      faults.push(`bundle ${name}: ${String(error)}`);
      continue;
    }
    const called = run(process.execPath, [file], { URL: server.baseUrl, KEY: server.apiKey });
    const passed = called.stdout.trim() === EXPECTED;
    print(`${passed ? "ok  " : "FAIL"} call the server by ${name}`);
    if (!passed) faults.push(`call by ${name}: ${called.output.slice(0, 2000)}`);
  }

  mustRun("convert to Postman", tool("openapi2postmanv2"), [
    "-s", "openapi.json", "-o", "postman.json", "-O", "folderStrategy=Tags,parametersResolution=Example",
  ]); // prettier-ignore
  const report = join(folder, "newman.json");
  run(tool("newman"), [
    "run", "postman.json", "--env-var", `baseUrl=${server.baseUrl}`, "--env-var", `apiKey=${server.apiKey}`,
    "--reporters", "json", "--reporter-json-export", report, "--timeout-request", "10000",
  ]); // prettier-ignore
  const { executions } = JSON.parse(readFileSync(report, "utf8")).run;
  const statuses = executions.map(({ item, response }) => [item.name, response?.code ?? null]);
  const refused = executions.filter(({ response }) => response?.code === 400);
  print(`${refused.length === 0 ? "ok  " : "FAIL"} run ${statuses.length} Postman requests without a 400`);
  print(
    JSON.stringify(
      Object.groupBy(statuses, ([, code]) => String(code)),
      (_, value) => (Array.isArray(value) && Array.isArray(value[0]) ? value.length : value),
    ),
  );
  for (const { item, response } of refused)
    faults.push(
      `Postman request "${item.name}": ${Buffer.from(response.stream?.data ?? [])
        .toString()
        .slice(0, 600)}`,
    );
} finally {
  await server.cleanup();
  rmSync(folder, { recursive: true, force: true });
}
if (faults.length > 0) print(`\n${faults.join("\n\n")}`);
process.exitCode = faults.length === 0 ? 0 : 1;
