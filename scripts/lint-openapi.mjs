// Checks the OpenAPI document with Redocly CLI and Spectral: npm run lint:openapi
// npx downloads both at pinned versions. They take 83 MB, so `npm test` applies Redocly's rules without them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeApi } from "../src/http/openapi/openapi.ts";
import { ROUTES } from "../src/http/routes.ts";
import { DEFAULT_SMS_LIMITS } from "../src/model/message.ts";

const REDOCLY = "@redocly/cli@2.77.0";
const SPECTRAL = "@stoplight/spectral-cli@6.16.3";

const folder = mkdtempSync(join(tmpdir(), "heliograph-openapi-"));
const document = join(folder, "openapi.json");
const rules = join(folder, "spectral.json");
writeFileSync(
  document,
  JSON.stringify(
    describeApi(ROUTES, { baseUrl: "https://messages.example.org", version: "0.0.0", limits: DEFAULT_SMS_LIMITS }),
    null,
    2,
  ),
);
writeFileSync(rules, JSON.stringify({ extends: ["spectral:oas"] }));

const run = (...words) => spawnSync("npx", ["--yes", ...words], { stdio: "inherit" }).status === 0;
const passed = [
  run(REDOCLY, "lint", document, "--extends=recommended-strict"),
  run(SPECTRAL, "lint", document, "--ruleset", rules, "--fail-severity=warn"),
];
rmSync(folder, { recursive: true });
process.exitCode = passed.every(Boolean) ? 0 : 1;
