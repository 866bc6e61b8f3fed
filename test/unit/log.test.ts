import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLog, SECRET_FIELDS } from "../../src/lib/log.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The arguments of every log call in a source text. */
function* logCallsIn(source: string): Generator<string> {
  for (const { 0: call, index } of source.matchAll(/\blog\??\.(?:debug|info|warn|error|fatal)\(/g)) {
    const start = index + call.length;
    let end = start;
    for (let depth = 1; depth > 0 && end < source.length; end += 1)
      depth += "([{".includes(source[end] ?? " ") ? 1 : ")]}".includes(source[end] ?? " ") ? -1 : 0;
    yield source.slice(start, end - 1);
  }
}

const fieldsOf = (call: string): string[] =>
  [...call.matchAll(/[{,]\s*"?([\w-]+)"?\s*(?=[,:}])/g)].map(([, field = ""]) => field);

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(createLog("warn", { write: (line: string) => void lines.push(line) }));
  return JSON.parse(lines.join("")) as Record<string, unknown>;
}

test("the log shows the code of a refusal, and no code of a person", () => {
  const refusal = Object.assign(new Error("The carrier refuses the bind"), { code: "ESME_RINVPASWD" });
  expect(logged((log) => log.warn({ err: refusal, code: "471100" }, "carrier refuses"))).toMatchObject({
    err: { errorCode: "ESME_RINVPASWD" },
    code: "[redacted]",
  });
});

test("no log call passes a field that the log redacts, such as code: a reader would never see the fact", () => {
  const calls = globSync("src/**/*.ts", { cwd: ROOT }).flatMap((file) =>
    [...logCallsIn(readFileSync(join(ROOT, file), "utf8"))].map((call) => ({ file, call })),
  );
  expect(calls.length).toBeGreaterThan(90);
  expect(calls.flatMap(({ call }) => fieldsOf(call))).toContain("errorCode");
  const redacted = calls.flatMap(({ file, call }) =>
    fieldsOf(call)
      .filter((field) => SECRET_FIELDS.includes(field))
      .map((field) => `${file} logs ${field}`),
  );
  expect(redacted).toEqual([]);
});
