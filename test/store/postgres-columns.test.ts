import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { columns } from "../../src/store/postgres/columns.ts";

/** Values that a nearly correct quoting gets wrong. */
const ODD_WORDS = ["", " ", "NULL", "null", '"', "\\", '\\"', "{}", "a,b", "{a}", "line\nbreak", "tab\t", "'", "é😀"];

describe("a batch in columns", () => {
  const client = new Client({ connectionString: inject("postgresUrl") });
  beforeAll(() => client.connect());
  afterAll(() => client.end());

  async function readBack<C extends string>(
    types: Record<C, string>,
    batch: readonly Record<C, unknown>[],
  ): Promise<unknown[]> {
    const { rows, values } = columns(types);
    return (await client.query(`select * from ${rows} order by place`, values(batch))).rows;
  }

  test("a batch in columns is read back unchanged, whatever its texts", async () => {
    const batch = ODD_WORDS.map((word, index) => ({ id: index, word }));
    expect(await readBack({ id: "integer", word: "text" }, batch)).toEqual(
      batch.map((row, index) => ({ ...row, place: String(index + 1) })),
    );
  });

  test("a batch in columns keeps nulls in place, even in a column of nulls", async () => {
    const batch = [
      { id: 1, word: null, never: undefined },
      { id: 2, word: "b", never: undefined },
      { id: 3, word: null, never: undefined },
    ];
    expect(await readBack({ id: "integer", word: "text", never: "bigint" }, batch)).toEqual(
      batch.map((row, index) => ({ ...row, never: null, place: String(index + 1) })),
    );
  });

  test("a batch in columns may be empty", async () => {
    expect(await readBack({ id: "integer", word: "text" }, [])).toEqual([]);
  });
});
