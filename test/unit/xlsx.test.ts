import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BadSpreadsheet } from "../../src/campaigns/xlsx/bad-spreadsheet.ts";
import { dateFormatOf, numberText } from "../../src/campaigns/xlsx/cell-text.ts";
import { convertSheet } from "../../src/campaigns/xlsx/convert.ts";
import { readRecord } from "../../src/campaigns/csv.ts";
import { rowsOf, workbookOf, zipOf } from "../support/xlsx.ts";

const MIB = 1_048_576;

async function convert(file: Buffer, sheet: string | null = null, bytesMax = MIB): Promise<string> {
  const source = {
    size: file.length,
    read: async (offset: number, length: number) => file.subarray(offset, offset + length),
  };
  const steps = convertSheet(source, { sheet, bytesMax });
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return Buffer.concat([...value.csv]).toString();
  }
}

/** The failure of a file, or its CSV. */
const outcomeOf = (file: Buffer, ...more: [sheet?: string | null, bytesMax?: number]): Promise<string> =>
  convert(file, ...more).catch((error: unknown) => {
    if (error instanceof BadSpreadsheet) return error.failure;
    throw error;
  });

function valuesOf(csv: string): string[][] {
  const bytes = Buffer.from(csv);
  const rows: string[][] = [];
  for (let at = 0; at < bytes.length;) {
    const record = readRecord(bytes, at, 44, true);
    if (!record) throw new Error("the CSV has a record without an end");
    rows.push(record.values.map((value) => value ?? "�"));
    at = record.end;
  }
  return rows;
}

const one = (rows: string, more: Partial<Parameters<typeof workbookOf>[0]> = {}): Buffer =>
  workbookOf({ sheets: [{ name: "Sheet1", rows }], ...more });

describe("a sheet as CSV", () => {
  test("has the texts of every form: shared, inline, of formulas, with formats and phonetic guides", async () => {
    const rows = `<row r="1">
      <c r="A1" t="s"><v>1</v></c>
      <c r="B1" t="inlineStr"><is><r><t>A</t></r><r><rPr/><t>da</t></r><rPh><t>guide</t></rPh></is></c>
      <c r="C1" t="str"><f>UPPER("x")</f><v>X</v></c>
      <c r="D1"><f>1+1</f><v>2</v></c>
      <c r="E1" t="b"><v>1</v></c><c r="F1" t="e"><v>#N/A</v></c>
    </row>`;
    expect(await convert(one(rows, { strings: ["first", 'a "b", c\nd & <e>'] }))).toBe(
      `"a ""b"", c\nd & <e>","Ada","X","2","TRUE","#N/A"\n`,
    );
  });

  test("has phone numbers without an exponent and without rounding noise", async () => {
    const numbers = [
      "919876543210",
      "9.1987654321E+11",
      "1.55501001E10",
      "15550100100.0",
      "4.7110000000000003",
      "-0.00000001",
    ];
    const cells = numbers.map((value) => `<c><v>${value}</v></c>`);
    expect(await convert(one(`<row>${cells.join("")}</row>`))).toBe(
      `"919876543210","919876543210","15550100100","15550100100","4.711","-0.00000001"\n`,
    );
  });

  test("has dates and times by their formats, in both date systems", async () => {
    const styles = `<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/><numFmt numFmtId="165" formatCode="0 &quot;days&quot;"/></numFmts>
      <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
      <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs>`;
    const cells = [0, 1, 2, 3, 4].map((style) => `<c s="${style}"><v>46053.75</v></c>`);
    const rows = `<row>${cells.join("")}</row>`;
    expect(await convert(one(rows, { styles }))).toBe(
      `"46053.75","2026-01-31","2026-01-31 18:00","46053.75","18:00"\n`,
    );
    const properties = `<workbookPr date1904="1"/>`;
    expect(await convert(one(`<row><c s="1"><v>44591</v></c></row>`, { styles, properties }))).toBe(`"2026-01-31"\n`);
  });

  test("keeps the places of rows and columns that have gaps", async () => {
    const rows = `<row r="2"><c r="C2"><v>1</v></c></row><row r="4"><c r="A4"><v>2</v></c></row>`;
    expect(await convert(one(rows))).toBe(`\n,,"1"\n\n"2"\n`);
  });

  test("is that of the first visible sheet, or of the named one, also if it is hidden", async () => {
    const sheets = ["Notes", "People", "Old"].map((name, index) => ({ name, rows: rowsOf([[index]]) }));
    const [notes, people, old] = sheets;
    if (!notes || !people || !old) throw new Error("no sheets");
    const file = workbookOf({ sheets: [{ ...notes, isHidden: true }, people, old] });
    expect(await convert(file)).toBe(`"1"\n`);
    expect(await convert(file, "Old")).toBe(`"2"\n`);
    expect(await convert(file, "Notes")).toBe(`"0"\n`);
    expect(await outcomeOf(file, "None")).toBe("UNKNOWN_SHEET");
  });

  test("reads names with a prefix, and values that hold a tag's end", async () => {
    const content = `<x:worksheet><x:sheetData><x:row r='1' note="a > b"><x:c t="inlineStr"><x:is><x:t><![CDATA[<5>]]></x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>`;
    const file = zipOf([
      { name: "xl/workbook.xml", content: `<workbook><sheets><sheet name="A" r:id="r1"/></sheets></workbook>` },
      {
        name: "xl/_rels/workbook.xml.rels",
        content: `<Relationships><Relationship Id="r1" Target="/xl/worksheets/a.xml"/></Relationships>`,
        isStored: true,
      },
      { name: "xl/worksheets/a.xml", content },
    ]);
    expect(await convert(file)).toBe(`"<5>"\n`);
  });
});

describe("a hostile workbook", () => {
  test("is not unpacked beyond its limits (ZIP bomb)", async () => {
    expect(await outcomeOf(one(rowsOf([["a".repeat(30_000)]])), null, 1000)).toBe("SPREADSHEET_TOO_LARGE");
    const bomb = zipOf([{ name: "xl/workbook.xml", content: `<workbook>${"<a/>".repeat(2.2 * MIB)}</workbook>` }]);
    expect(bomb.length).toBeLessThan(MIB / 10);
    expect(await outcomeOf(bomb)).toBe("SPREADSHEET_TOO_LARGE");
  });

  test("with more shared texts than fit into memory is refused", async () => {
    const text = `<si><t>${"x".repeat(40_000)}</t></si>`;
    const file = zipOf([
      { name: "xl/workbook.xml", content: `<workbook><sheets><sheet name="A" r:id="r1"/></sheets></workbook>` },
      { name: "xl/_rels/workbook.xml.rels", content: `<R><Relationship Id="r1" Target="a.xml"/></R>` },
      { name: "xl/a.xml", content: "<worksheet/>" },
      { name: "xl/sharedStrings.xml", content: `<sst>${text.repeat(1700)}</sst>` },
    ]);
    expect(await outcomeOf(file)).toBe("SPREADSHEET_TOO_LARGE");
  });

  test("with a document type is refused (XML bomb, external entity)", async () => {
    const content = `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><workbook/>`;
    expect(await outcomeOf(zipOf([{ name: "xl/workbook.xml", content }]))).toBe("SPREADSHEET");
  });

  test("with a tag or a text that does not end is refused, and longer texts are cut", async () => {
    const content = `<workbook a="${"x".repeat(2 * MIB)}`;
    expect(await outcomeOf(zipOf([{ name: "xl/workbook.xml", content }]))).toBe("SPREADSHEET");
    const [[value = ""] = []] = valuesOf(await convert(one(rowsOf([["y".repeat(MIB)]]))));
    expect(value.length).toBeLessThan(200_000);
  });

  test("with a value far to the right or below is refused", async () => {
    expect(await outcomeOf(one(`<row r="1"><c r="XFD1"><v>1</v></c></row>`))).toBe("TOO_MANY_COLUMNS");
    expect(await outcomeOf(one(`<row r="2000000"><c r="A1"><v>1</v></c></row>`))).toBe("SPREADSHEET");
  });

  test("that is another archive, encrypted or cut off is refused", async () => {
    expect(await outcomeOf(zipOf([{ name: "content.xml", content: "<office/>" }]))).toBe("SPREADSHEET");
    const file = one(rowsOf([["a"]]));
    expect(await outcomeOf(file.subarray(0, file.length - 30))).toBe("SPREADSHEET");
    const encrypted = Buffer.from(file);
    encrypted.writeUInt16LE(1, encrypted.lastIndexOf(Buffer.from("504b0102", "hex")) + 8);
    expect(await outcomeOf(encrypted)).toBe("SPREADSHEET");
  });

  test("with any changed bytes ends in CSV or in a failure", async () => {
    const file = one(
      rowsOf([
        ["phone", "name"],
        [15550100100, "Ada & Bob"],
      ]),
      { strings: ["x"] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        async (changes) => {
          const broken = Buffer.from(file);
          for (const [at, byte] of changes) broken[at] = byte;
          expect(await outcomeOf(broken)).toEqual(expect.any(String));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("with any XML in its sheet ends in CSV or in a failure", async () => {
    const piece = fc.constantFrom("<row>", "</row>", "<c>", '<c r="B1" t="s">', "</c>", "<v>", "1", "</v>", "<t>", "&#0;", "&amp", "<!--", "-->", "<", ">", '"', "<![CDATA[", "]]>"); // prettier-ignore
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const outcome = await outcomeOf(one(pieces.join("")));
        expect(/^[A-Z_]+$/.test(outcome) || valuesOf(outcome).length >= 0).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

test("any texts come out of a sheet as they went in", async () => {
  const text = fc.string({ maxLength: 20, unit: "grapheme" }).filter((value) => !/[\p{Cc}\p{Cn}]/u.test(value));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(text, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
      async (rows) => {
        const found = valuesOf(await convert(one(rowsOf(rows))));
        const trimmed = rows.map((cells) => cells.slice(0, cells.findLastIndex((cell) => cell !== "") + 1));
        expect(found.map((cells) => (cells.length === 1 && cells[0] === "" ? [] : cells))).toEqual(trimmed);
      },
    ),
    { numRuns: 50 },
  );
});

test("a number is written without an exponent", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), (number) => {
      expect(numberText(Number(number).toExponential())).toBe(String(number));
    }),
  );
  expect(numberText("1e300")).not.toContain("e");
  expect(numberText("abc")).toBe("abc");
});

test("a format is one of dates by its letters outside of texts, colours and conditions", () => {
  const is = (code: string): string => {
    const format = dateFormatOf(200, code);
    return format ? `${format.hasDate ? "date" : ""}${format.hasTime ? "time" : ""}` : "number";
  };
  expect(
    ["yyyy-mm-dd", "mmm", "[h]:mm", "d h:mm", "General", '0.00 "days"', "[Red]0", "#,##0;[Red]-0", "@"].map(is),
  ).toEqual(["date", "date", "time", "datetime", "number", "number", "number", "number", "number"]);
});
