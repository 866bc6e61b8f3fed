import { describe, expect, test } from "vitest";
import { delimiterOf, markLength, namedDelimiter, readRecord, unreadableFormat } from "../../src/campaigns/csv.ts";
import { recogniseLayout } from "../../src/campaigns/layout.ts";

const COMMA = 0x2c;

function recordsOf(text: string | Buffer, delimiter = COMMA): (readonly (string | null)[])[] {
  const bytes = Buffer.from(text);
  const records: (readonly (string | null)[])[] = [];
  for (let at = 0; at < bytes.length;) {
    const record = readRecord(bytes, at, delimiter, true);
    if (!record) break;
    records.push(record.values);
    at = record.end;
  }
  return records;
}

describe("a CSV file", () => {
  test.each<[string, string, string[][]]>([
    [
      "LF",
      "a,b\nc,d\n",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    [
      "CRLF, and none after the last row",
      "a,b\r\nc,d",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ["CR", "a\rb", [["a"], ["b"]]],
    ["empty values and rows", "a,,\n\n,b\n", [["a", "", ""], [""], ["", "b"]]],
    [
      "quotes around a delimiter, a line break and a quote",
      '"a,b","c\nd","e ""f"""\ng',
      [["a,b", "c\nd", 'e "f"'], ["g"]],
    ],
    ["a quote inside a value", 'a "b" c,d\n', [['a "b" c', "d"]]],
    ["bytes after a closing quote, which are left out", '"a"b,c\n', [["a", "c"]]],
    ["letters of two to four bytes", "é,न,😀\n", [["é", "न", "😀"]]],
  ])("has rows with %s", (_, text, rows) => {
    expect(recordsOf(text)).toEqual(rows);
  });

  test("a value that is not UTF-8 is null, and its neighbours stay", () => {
    expect(recordsOf(Buffer.from([0x61, COMMA, 0xe9, COMMA, 0x62, 0x0a]))).toEqual([["a", null, "b"]]);
  });

  test("a record that is cut anywhere is read once its rest is there, and not before", () => {
    const bytes = Buffer.from('"Zoë, ""Z""",न\r\nnext');
    const whole = readRecord(bytes, 0, COMMA, true);
    expect(whole?.values).toEqual(['Zoë, "Z"', "न"]);
    const read = Array.from({ length: bytes.length + 1 }, (_, length) =>
      readRecord(bytes.subarray(0, length), 0, COMMA, false),
    );
    expect(read).toEqual(read.map((_, length) => (length < (whole?.end ?? 0) ? null : whole)));
  });

  test("a quote that does not end is no record", () => {
    expect(recordsOf('a\n"b,c\nd\n')).toEqual([["a"]]);
  });

  test.each([",", ";", "\t", "|"])("the delimiter %j is recognised", (delimiter) => {
    const header = ["phone", "name, first", "city"].map((name) => (name.includes(delimiter) ? `"${name}"` : name));
    expect(delimiterOf(Buffer.from(`${header.join(delimiter)}\n`), 0)).toBe(delimiter);
  });

  test.each([
    ["sep=;\r\nphone", { delimiter: ";", end: 7 }],
    ["SEP=\t\nphone", { delimiter: "\t", end: 6 }],
    ["sep=;", null],
    ["sep=;;\n", null],
    ["phone;sep=;\n", null],
  ])("a first line that names the delimiter: %j", (text, named) => {
    expect(namedDelimiter(Buffer.from(text), 0)).toEqual(named);
  });

  test("a byte order mark is skipped", () => {
    expect([markLength(Buffer.from("\ufeffa")), markLength(Buffer.from("a"))]).toEqual([3, 0]);
  });

  test.each<[string, Buffer, string | null]>([
    ["XLS", Buffer.from("d0cf11e0a1b11ae1", "hex"), "SPREADSHEET"],
    ["UTF-16", Buffer.from("\ufeffa,b", "utf16le"), "NOT_UTF8"],
    ["UTF-8", Buffer.from("a,b"), null],
    ["UTF-8 with a first column PK, as of a primary key,", Buffer.from("PK,phone"), null],
  ])("of the format %s is recognised", (_, bytes, format) => {
    expect(unreadableFormat(bytes)).toBe(format);
  });
});

describe("columns", () => {
  const isNumber = (value: string): boolean => /^\+?\d{7,15}$/.test(value);
  const recognise = (rows: string[][], mapping: Parameters<typeof recogniseLayout>[1] = null) => {
    const [first = [], ...others] = rows;
    return recogniseLayout({ delimiter: ",", first, rows: others, isNumber }, mapping);
  };

  test.each(["Phone", "mobile number", "MSISDN", "मोबाइल नंबर", "Phone_No."])(
    "the column %j holds the numbers",
    (name) => {
      const { layout, failure } = recognise([
        ["id", name],
        ["15550100100", "15550100101"],
      ]);
      expect(failure).toBeNull();
      expect(layout).toMatchObject({ hasHeader: true, number: 1, variables: [{ name: "id", column: 0 }] });
    },
  );

  test("without a known name, the column with the most numbers holds them", () => {
    const { layout } = recognise([
      ["who", "reach"],
      ["Ada", "15550100100"],
      ["Bob", "?"],
    ]);
    expect(layout).toMatchObject({ number: 1, variables: [{ name: "who", column: 0 }] });
  });

  test("a first row with a number is no header, and columns have their places as names", () => {
    const { layout } = recognise([["15550100100", "Ada"]]);
    expect(layout).toMatchObject({
      hasHeader: false,
      columns: ["1", "2"],
      number: 0,
      variables: [{ name: "2", column: 1 }],
    });
  });

  test("equal names are told apart", () => {
    expect(recognise([["phone", "name", "name", ""]]).columns).toEqual(["phone", "name", "name 2", "4"]);
  });

  test("a mapping names the column of numbers and the variables", () => {
    const rows = [
      ["a", "b", "c"],
      ["15550100100", "15550100101", "x"],
    ];
    expect(recognise(rows, { number: "b", variables: { first: "c" } }).layout).toMatchObject({
      number: 1,
      variables: [{ name: "first", column: 2 }],
    });
    expect(recognise(rows, { number: "b" }).layout?.variables.map(({ name }) => name)).toEqual(["a", "c"]);
    expect(recognise(rows, { number: "d" }).failure).toBe("UNKNOWN_COLUMN");
  });

  test("without a column of numbers, the columns are known for a mapping", () => {
    expect(
      recognise([
        ["a", "b"],
        ["x", "y"],
      ]),
    ).toMatchObject({ columns: ["a", "b"], failure: "NO_NUMBER_COLUMN" });
  });

  test("more than 50 columns are refused", () => {
    expect(recognise([Array.from({ length: 51 }, (_, index) => `c${index}`)]).failure).toBe("TOO_MANY_COLUMNS");
  });

  test("a row of a hundred thousand columns is refused before any of them is looked at", () => {
    const first = Array.from({ length: 100_000 }, () => "a");
    const unread = (): never => {
      throw new Error("a value was read");
    };
    const { failure } = recogniseLayout({ delimiter: ",", first, rows: [], isNumber: unread }, null);
    expect(failure).toBe("TOO_MANY_COLUMNS");
  });
});
