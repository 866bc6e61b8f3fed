import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { operatorCircle, readOperatorTable, type OperatorTable } from "../../src/pipeline/policy/operator.ts";
import operators from "../../src/pipeline/policy/operators.json" with { type: "json" };
import { repetitions } from "../support/repetitions.ts";

function tableOf(...lines: string[]): OperatorTable {
  const table = readOperatorTable(lines.join("\n"));
  if ("fault" in table) throw new Error(table.fault);
  return table;
}

describe("the operator of a number", () => {
  test.each([
    ["919876543210", "Airtel"],
    ["919820012345", "Vodafone"],
    ["919448012345", "BSNL MOBILE"],
    ["917012345678", "Reliance Jio"],
    ["491711234567", "T-Mobile"],
    ["447400123456", "Three"],
    ["35267112345", "JOIN"],
  ])("%s is a number of %s", (number, operator) => {
    expect(operatorCircle(number)).toBe(operator);
  });

  test.each([
    ["15550100100", "is of a country where prefixes tell nothing"],
    ["912212345678", "is of a fixed line"],
    ["999123456789", "is of no country"],
    ["91", "is a country and no more"],
    ["", "is nothing"],
    ["constructor", "is no number"],
  ])("the operator of %j, which %s, is unknown", (number) => {
    expect(operatorCircle(number)).toBe("");
  });

  test("the longest prefix counts", () => {
    expect(operatorCircle("91702712345")).toBe(operatorCircle("91702799999"));
    const table = tableOf("91,Any,India", "919876,Airtel,Punjab", "9198765,Airtel,Haryana");
    expect(operatorCircle("919876543210", table)).toBe("Airtel, Haryana");
    expect(operatorCircle("919876143210", table)).toBe("Airtel, Punjab");
    expect(operatorCircle("917012345678", table)).toBe("Any, India");
  });
});

describe("the data of operators", () => {
  const codes = Object.entries<Record<string, string>>(operators);

  test("there is a great deal of it", () => {
    expect(codes.length).toBeGreaterThan(200);
    expect(codes.flatMap(([, names]) => Object.values(names).flatMap((list) => list.split(" "))).length).toBe(28_884);
  });

  test("no calling code begins with another", () => {
    const names = codes.map(([code]) => code);
    expect(names.filter((code) => names.some((other) => other !== code && code.startsWith(other)))).toEqual([]);
  });

  test.each(codes)("+%s: every prefix is of digits and has one operator", (code, names) => {
    const prefixes = Object.values(names).flatMap((list) => list.split(" "));
    expect(prefixes.filter((prefix) => !/^[0-9]{1,8}$/.test(prefix))).toEqual([]);
    expect(new Set(prefixes).size).toBe(prefixes.length);
    const answers = Object.entries(names).flatMap(([name, list]) =>
      list.split(" ").map((prefix) => [operatorCircle(code + prefix), name]),
    );
    expect(answers.filter(([found, name]) => found !== name)).toEqual([]);
  });
});

describe("a table of operators and circles", () => {
  test("its rows take precedence over libphonenumber", () => {
    const table = tableOf("prefix,operator,circle", "919876,Airtel India,Punjab");
    expect(operatorCircle("919876543210", table)).toBe("Airtel India, Punjab");
    expect(operatorCircle("919448012345", table)).toBe("BSNL MOBILE");
  });

  test("each fact from the carrier takes precedence over the table", () => {
    const table = tableOf("919876,Airtel India,Punjab");
    const told = { operator: "Jio", circle: "Kerala" };
    expect(operatorCircle("919876543210", table, told)).toBe("Jio, Kerala");
    expect(operatorCircle("919876543210", table, { operator: "Jio" })).toBe("Jio, Punjab");
    expect(operatorCircle("919876543210", table, { circle: "Kerala" })).toBe("Airtel India, Kerala");
    expect(operatorCircle("919876543210", null, { operator: "", circle: "" })).toBe("Airtel");
  });

  test("a row without a circle gives the operator alone", () => {
    expect(operatorCircle("15550100100", tableOf("1555,Fiction Mobile"))).toBe("Fiction Mobile");
    expect(operatorCircle("15550100100", tableOf("1555,Fiction Mobile,"))).toBe("Fiction Mobile");
  });

  test("a row without an operator gives its circle to the operator that libphonenumber knows", () => {
    expect(operatorCircle("919876543210", tableOf("919876,,Punjab"))).toBe("Airtel, Punjab");
    expect(operatorCircle("15550100100", tableOf("1555,,Nowhere"))).toBe("Nowhere");
  });

  test("it may have a title, a byte order mark, empty lines, pluses, spaces, quotes and any line ends", () => {
    const rows = ' +919876 , Airtel , "Punjab" \n91987,"Idea, ""old""",Delhi\r';
    const table = tableOf(`\ufeffPrefix,Operator,Circle\r\n\r\n${rows}`);
    expect(operatorCircle("919876000000", table)).toBe("Airtel, Punjab");
    expect(operatorCircle("919870000000", table)).toBe('Idea, "old", Delhi');
  });

  test.each([
    ["", "The table has no rows"],
    ["prefix,operator,circle\n", "The table has no rows"],
    ["09876,Airtel,Punjab", "Line 1: prefix is"],
    ["prefix,operator,circle\nAirtel,919876,Punjab", "Line 2: prefix is"],
    ["919876,Airtel,Punjab\nprefix,operator,circle", "Line 2: prefix is"],
    ["9198765432101234,Airtel,Punjab", "Line 1: prefix is"],
    ["919876,Airtel,Punjab,India", "Line 1: a row has three columns"],
    ["919876;Airtel;Punjab", "Line 1: prefix is"],
    ["919876,,", "Line 1: prefix 919876 has neither"],
    ["919876", "Line 1: prefix 919876 has neither"],
    ["919876,Airtel,Punjab\n\n+919876,Idea,Punjab", "Line 3: prefix 919876 has a row already"],
    ['919876,"Airtel,Punjab', "Line 1: a quotation mark"],
    ['919876,"Airtel"x,Punjab', "Line 1: a quotation mark"],
    ["919876,Air\u0000tel,Punjab", "Line 1: operator is plain text"],
    ["919876,Airtel,Pun\tjab", "Line 1: circle is plain text"],
    [`919876,${"A".repeat(101)},Punjab`, "Line 1: operator is plain text of at most 100"],
  ])("%j is refused, with the line and what it needs", (csv, fault) => {
    expect(readOperatorTable(csv)).toEqual({ fault: expect.stringContaining(fault) });
  });

  test("a value written as CSV is read back unchanged", () => {
    const name = fc
      .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 })
      .filter((text) => text.trim() === text && text !== "");
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[1-9][0-9]{0,14}$/), fc.tuple(name, name), { minKeys: 1 }),
        (rows) => {
          const table = tableOf(
            ...Object.entries(rows).map(([prefix, names]) => [prefix, ...names.map(quoted)].join(",")),
          );
          expect(table.rows.size).toBe(Object.keys(rows).length);
          for (const [prefix, [operator, circle]] of Object.entries(rows))
            expect(operatorCircle(prefix, table)).toBe(`${operator}, ${circle}`);
        },
      ),
    );
  });

  test("whatever is given is a table or a fault, and never an error", () => {
    const part = fc.constantFrom("919876", ",", '"', "\n", "\r\n", "Airtel", "\u0000", "prefix", " ", "\ufeff", "😀");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(part).map((parts) => parts.join("")),
        ),
        (csv) => {
          const table = readOperatorTable(csv);
          expect("fault" in table ? table.fault.length : table.rows.size).toBeGreaterThan(0);
        },
      ),
      { numRuns: repetitions(300, 1000) },
    );
  });
});
