import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** Names before a parenthesis that are no functions: keywords, aliases of batches and methods of the query builder. */
const OTHERS = new Set(
  "all and any array as batch cast change conflict distinct else exists filter from in join lateral left lit map materialized not on or over pooler ref select set then using values when where".split(
    " ",
  ),
);

const SQL = /\b(select|insert|update|delete|from|with|case|coalesce|exists|extract|where|set_config|array_position)\b/;

/** The SQL texts of the store on PostgreSQL, without interpolations, quoted texts and comments. */
function* statements(): Generator<{ file: string; sql: string }> {
  for (const file of globSync("src/store/**/*.ts", { cwd: ROOT }).toSorted()) {
    // SQLite, the copy between the engines and schema changes run elsewhere or once.
    if (/\/(sqlite|transfer|migrations)\//.test(file)) continue;
    const code = readFileSync(join(ROOT, file), "utf8").replaceAll(/^\s*(\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, "");
    for (const [, template, quoted = ""] of code.matchAll(/`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g)) {
      let sql = template ?? quoted;
      for (let before = ""; before !== sql;) [before, sql] = [sql, sql.replaceAll(/\$\{[^{}]*\}/g, " ? ")];
      sql = sql.replaceAll(/'[^']*'/g, "''").replaceAll(/--.*$/gm, "");
      if (SQL.test(sql)) yield { file, sql };
    }
  }
}

const [tableTypes = ""] = readFileSync(join(ROOT, "src/store/tables.ts"), "utf8").split(/^}$/m);
const tables = new Set([...tableTypes.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name));
for (const name of ["campaign_count_changes", "migrations", "migration_turn"]) tables.add(name);

test("docs/sql.md lists exactly the SQL functions of the statements on PostgreSQL", () => {
  const used = new Set<string>();
  for (const { sql } of statements())
    for (const [, name = ""] of sql.matchAll(/\b([a-z_][a-z_0-9]*)\s*\(/g))
      if (!OTHERS.has(name) && !tables.has(name)) used.add(name);
  const page = readFileSync(join(ROOT, "docs/sql.md"), "utf8");
  const [, table = ""] = /<!-- functions:begin -->\n([\s\S]*?)\n<!-- functions:end -->/.exec(page) ?? [];
  const listed = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? "");
  expect(listed.toSorted()).toEqual([...used].toSorted());
});

test("no statement of the store uses what docs/sql.md excludes", () => {
  const excluded =
    /\bpg_(try_)?advisory|\blisten\b|\bnotify\b|\bcreate (or replace )?(trigger|function)\b|\block table\b|\btemp(orary)? table\b|\bon commit\b|\bset transaction\b|\bnextval\b|\bcopy \w+ from\b/i;
  const wrong = [...statements()].filter(({ sql }) => excluded.test(sql));
  expect(wrong.map(({ file, sql }) => `${file}: ${sql.slice(0, 80)}`)).toEqual([]);
  expect([...statements()].length).toBeGreaterThan(100);
});
