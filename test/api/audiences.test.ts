import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { checked, upload, type AudienceBody } from "../support/audiences.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { rowsOf as sheetOf, workbookOf } from "../support/xlsx.ts";
import { closeAll, environment, Restartable } from "../support/restartable-server.ts";

const numberAt = (index: number): string => String(15_550_200_000 + index);
const rowsOf = (count: number): string =>
  `phone,first name\n${Array.from({ length: count }, (_, index) => `${numberAt(index)},Ada ${index}\n`).join("")}`;

interface List {
  data: { row: number; number: string; code: string; column: string | null; variables: Record<string, string> }[];
  nextCursor: string | null;
}

describe.each(ENGINES)("audiences on %s", (engine) => {
  let tenants: Tenants;
  beforeAll(async () => {
    tenants = await openTenants(engine, undefined, {
      env: { HELIOGRAPH_AUDIENCE_ROWS_MAX: "6000", HELIOGRAPH_AUDIENCE_MAX_MB: "2" },
    });
  });
  afterAll(() => tenants.close());

  const request = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    tenants.server.request<T>(method, path, body, headers);
  const check = async (file: string | Buffer, fields?: object): Promise<AudienceBody> =>
    checked(request, await upload(request, file, fields));

  test("a file is checked row by row: columns, faults, duplicates and opt-outs", async () => {
    await request("POST", "/api/optouts", { number: "15550100103" });
    const rows = [
      "Phone;First name;City",
      "15550100100;Ada;Pune",
      "+1 555 010 0101;Bob;",
      "",
      "hello;Eve;Pune",
      ";Eve;Pune",
      '15550100100;"Ada; again";Pune',
      "15550100103;Dan;Pune",
      "15550100104;Fay;Pune;more",
      `15550100105;${"x".repeat(1601)};Pune`,
    ];
    const audience = await check(`\ufeff${rows.join("\r\n")}\r\n`);
    expect(audience).toMatchObject({
      state: "ready",
      columns: ["Phone", "First name", "City"],
      mapping: { number: "Phone", variables: { "First name": "First name", City: "City" } },
      rows: 8,
      recipients: 3,
      faults: 4,
      duplicates: 1,
      optedOut: 1,
      failure: null,
    });
    const { body: faults } = await request<List>("GET", `/v1/audiences/${audience.id}/faults`);
    expect(faults.data.map(({ row, column, code }) => [row, column, code])).toEqual([
      [5, "Phone", "INVALID_NUMBER"],
      [6, "Phone", "NUMBER_MISSING"],
      [9, null, "TOO_MANY_VALUES"],
      [10, "First name", "VALUE_TOO_LONG"],
    ]);
    const { body: recipients } = await request<List>("GET", `/v1/audiences/${audience.id}/recipients`);
    expect(recipients.data).toEqual([
      { row: 2, number: "15550100100", variables: { "First name": "Ada", City: "Pune" }, optedOut: false },
      { row: 3, number: "15550100101", variables: { "First name": "Bob", City: "" }, optedOut: false },
      { row: 8, number: "15550100103", variables: { "First name": "Dan", City: "Pune" }, optedOut: true },
    ]);
  });

  test("an interrupted upload continues at its offset, and a repeated part is stored once", async () => {
    const file = Buffer.from(`phone,name\n15550100100,Zoë न\n15550100101,Bob\n`);
    const cut = file.indexOf(0xc3) + 1;
    const { body: made } = await request<AudienceBody>("POST", "/v1/audiences", { name: "cut", size: file.length });
    const path = `/v1/audiences/${made.id}`;
    const part = (offset: number, bytes: Buffer) =>
      request<AudienceBody>("POST", `${path}/parts`, { offset, base64: bytes.toString("base64") });
    expect((await part(0, file.subarray(0, cut))).body).toMatchObject({ state: "uploading", received: cut });
    const ahead = await part(cut + 1, file.subarray(cut + 1));
    expect([ahead.status, ahead.body.error?.code]).toEqual([409, "UPLOAD_OFFSET_MISMATCH"]);
    const beyond = await part(cut, Buffer.concat([file.subarray(cut), Buffer.from("more")]));
    expect([beyond.status, beyond.body.error?.code]).toEqual([409, "UPLOAD_OFFSET_MISMATCH"]);
    expect((await part(0, file.subarray(0, cut))).body).toMatchObject({ received: cut });
    const { body: asked } = await request<AudienceBody>("GET", path);
    const answers = await Promise.all([1, 2, 3].map(() => part(asked.received, file.subarray(cut))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await checked(request, made.id)).toMatchObject({ state: "ready", recipients: 2, received: file.length });
    const { body } = await request<List>("GET", `${path}/recipients?limit=1`);
    expect(body.data[0]?.variables).toEqual({ name: "Zoë न" });
    const rest = await request<List>("GET", `${path}/recipients?cursor=${body.nextCursor}`);
    expect(rest.body.data.map(({ number }) => number)).toEqual(["15550100101"]);
  });

  test("the columns of a checked file can be mapped again", async () => {
    const audience = await check("a,b,c\nAda,15550100100,15550100200\nBob,15550100101,15550100201\n");
    expect(audience.mapping?.number).toBe("b");
    const path = `/v1/audiences/${audience.id}`;
    const wrong = await request<AudienceBody>("PATCH", path, { mapping: { number: "c", variables: { name: "d" } } });
    expect([wrong.status, wrong.body.error?.parameter]).toEqual([400, "mapping.variables.name"]);
    expect((await request<AudienceBody>("GET", path)).body).toEqual(audience);
    await request("PATCH", path, { name: "others", mapping: { number: "c", variables: { name: "a" } } });
    expect(await checked(request, audience.id)).toMatchObject({ name: "others", recipients: 2, rows: 2 });
    const { body } = await request<List>("GET", `${path}/recipients`);
    expect(body.data.map(({ number, variables }) => [number, variables])).toEqual([
      ["15550100200", { name: "Ada" }],
      ["15550100201", { name: "Bob" }],
    ]);
  });

  test.each<[string, string | Buffer, string]>([
    ["a damaged workbook", Buffer.from("PK\u0003\u0004 and more"), "SPREADSHEET"],
    ["a workbook of empty sheets", workbookOf({ sheets: [{ name: "A", rows: "" }] }), "EMPTY"],
    ["UTF-16", Buffer.from("\ufeffphone\n15550100100\n", "utf16le"), "NOT_UTF8"],
    ["no column of numbers", "name,city\nAda,Pune\n", "NO_NUMBER_COLUMN"],
    ["a header alone", "phone,name\n", "EMPTY"],
    ["a delimiter alone", "sep=;\n", "EMPTY"],
    ["a row without an end", `phone,name\n15550100100,${"x".repeat(600_000)}`, "ROW_TOO_LONG"],
    ["a quote that does not end", `phone,name\n15550100100,"Ada\n${"x".repeat(300_000)}`, "UNENDED_QUOTE"],
    [
      "more columns than 50",
      `${Array.from({ length: 51 }, (_, index) => `c${index}`).join(",")}\n`,
      "TOO_MANY_COLUMNS",
    ],
    ["more rows than the setting allows", rowsOf(6001), "TOO_MANY_ROWS"],
  ])("a file with %s fails with the reason", async (_, file, code) => {
    const audience = await check(file);
    expect([audience.state, audience.failure?.code]).toEqual(["failed", code]);
  });

  test("a first line sep=; names the delimiter, and rows keep the numbers of their lines", async () => {
    const audience = await check("\ufeffsep=;\r\nphone;note, long\r\n15550100100;Ada\r\n1;Bob\r\n");
    expect(audience).toMatchObject({ state: "ready", columns: ["phone", "note, long"], recipients: 1, faults: 1 });
    const { body } = await request<{ data: { row: number }[] }>("GET", `/v1/audiences/${audience.id}/faults`);
    expect(body.data.map(({ row }) => row)).toEqual([4]);
  });

  test("a workbook is read like a CSV file, with the rows and numbers of its first sheet or of the chosen one", async () => {
    const people = [
      ["phone", "name"],
      [15550100100, 'Ada "A", Pune'],
      ["hello", "Eve"],
      [15550100101, "Bob"],
    ];
    const file = workbookOf({
      sheets: [
        { name: "North", rows: sheetOf(people) },
        {
          name: "South",
          rows: sheetOf([
            ["number", "city"],
            [15550100102, "Goa"],
          ]),
        },
      ],
    });
    const audience = await check(file);
    expect(audience).toMatchObject({
      state: "ready",
      sheet: null,
      sheets: ["North", "South"],
      columns: ["phone", "name"],
      rows: 3,
      recipients: 2,
      faults: 1,
    });
    const path = `/v1/audiences/${audience.id}`;
    const { body: faults } = await request<List>("GET", `${path}/faults`);
    expect(faults.data.map(({ row, code }) => [row, code])).toEqual([[3, "INVALID_NUMBER"]]);
    const { body: recipients } = await request<List>("GET", `${path}/recipients`);
    expect(recipients.data.map(({ number, variables }) => [number, variables])).toEqual([
      ["15550100100", { name: 'Ada "A", Pune' }],
      ["15550100101", { name: "Bob" }],
    ]);
    const wrong = await request<AudienceBody>("PATCH", path, { sheet: "East" });
    expect([wrong.status, wrong.body.error?.parameter]).toEqual([400, "sheet"]);
    await request("PATCH", path, { sheet: "South" });
    expect(await checked(request, audience.id)).toMatchObject({
      state: "ready",
      sheet: "South",
      columns: ["number", "city"],
      recipients: 1,
    });
    expect(await check(file, { sheet: "East" })).toMatchObject({
      state: "failed",
      failure: { code: "UNKNOWN_SHEET" },
      sheets: ["North", "South"],
    });
    const csv = await check("phone\n15550100100\n");
    const none = await request<AudienceBody>("PATCH", `/v1/audiences/${csv.id}`, { sheet: "North" });
    expect([none.status, none.body.error?.parameter]).toEqual([400, "sheet"]);
  });

  test("a large workbook is checked in several runs, and none of its rows is lost", async () => {
    const rows = [
      ["phone", "name"],
      ...Array.from({ length: 5000 }, (_, index) => [Number(numberAt(index)), `Ada ${index}`]),
    ];
    const audience = await check(workbookOf({ sheets: [{ name: "All", rows: sheetOf(rows) }] }));
    expect(audience).toMatchObject({ state: "ready", rows: 5000, recipients: 5000, faults: 0 });
  });

  test("a failed file without a column of numbers is ready once the column is named", async () => {
    const audience = await check("who,reach\nAda,x\nBob,y\nEve,15550100100\n");
    expect(audience).toMatchObject({ state: "failed", columns: ["who", "reach"] });
    await request("PATCH", `/v1/audiences/${audience.id}`, { mapping: { number: "reach" } });
    expect(await checked(request, audience.id)).toMatchObject({ state: "ready", recipients: 1, faults: 2 });
  });

  test.each<[string, object, string]>([
    ["no name", { size: 1 }, "name"],
    ["an empty name", { name: " ", size: 1 }, "name"],
    ["no size", { name: "a" }, "size"],
    ["a size beyond the setting", { name: "a", size: 2_097_153 }, "size"],
    ["a mapping without a number", { name: "a", size: 1, mapping: {} }, "mapping.number"],
  ])("an audience with %s is refused by field", async (_, fields, parameter) => {
    const before = await tenants.execute("select count(*) as count from audiences");
    const { status, body } = await request<AudienceBody>("POST", "/v1/audiences", fields);
    expect([status, body.error?.parameter]).toEqual([400, parameter]);
    expect(await tenants.execute("select count(*) as count from audiences")).toEqual(before);
  });

  test.each<[string, object, string]>([
    ["both forms", { offset: 0, text: "a", base64: "YQ==" }, "text"],
    ["neither form", { offset: 0 }, "text"],
    ["no base64", { offset: 0, base64: "a b" }, "base64"],
    ["no bytes", { offset: 0, text: "" }, "text"],
    ["too many bytes", { offset: 0, text: "a".repeat(1_048_577) }, "text"],
    ["a negative offset", { offset: -1, text: "a" }, "offset"],
  ])("a part with %s is refused by field", async (_, part, parameter) => {
    const { body: made } = await request<AudienceBody>("POST", "/v1/audiences", { name: "a", size: 2_000_000 });
    const { status, body } = await request<AudienceBody>("POST", `/v1/audiences/${made.id}/parts`, part);
    expect([status, body.error?.parameter]).toEqual([400, parameter]);
    expect((await request<AudienceBody>("GET", `/v1/audiences/${made.id}`)).body.received).toBe(0);
  });

  test("a test key sees and changes only audiences of test keys", async () => {
    const asTest = { apikey: tenants.server.testKey };
    const live = await check("15550100100\n");
    const own = await upload((method, path, body) => request(method, path, body, asTest), "15550100101\n");
    expect(await checked(request, own)).toMatchObject({ test: true });
    const { body } = await request<{ data: AudienceBody[] }>("GET", "/v1/audiences", undefined, asTest);
    expect(body.data.map(({ id }) => id)).toEqual([own]);
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/recipients"],
      ["GET", "/faults"],
      ["DELETE", ""],
    ] as const)
      expect((await request(method, `/v1/audiences/${live.id}${path}`, undefined, asTest)).status).toBe(404);
  });

  test("a deleted audience is gone at once, and its rows soon after", async () => {
    const audience = await check(rowsOf(3000));
    expect((await request("DELETE", `/v1/audiences/${audience.id}`)).status).toBe(200);
    expect((await request("GET", `/v1/audiences/${audience.id}`)).status).toBe(404);
    const left = await eventually(
      async () =>
        Promise.all(
          ["audience_recipients", "audience_faults", "audience_parts"].map((table) =>
            tenants.execute(`select count(*) as count from ${table} where audience_id = '${audience.id}'`),
          ),
        ),
      (counts) => counts.flat().every((row) => Number((row as { count: unknown }).count) === 0),
    );
    expect(left).toHaveLength(3);
    await eventually(
      () => tenants.execute(`select id from audiences where id = '${audience.id}'`),
      (rows) => rows.length === 0,
    );
  });

  test("an erased number is in no audience and in no stored file", async () => {
    const number = "15550177123";
    const [one, two] = [await check(`phone\n${number}\n15550100100\n`), await check(`phone\n${number}\n${number},x\n`)];
    const { body } = await request("DELETE", `/v1/audience-numbers/+${number}`);
    expect(body).toMatchObject({ audiences: 2 });
    for (const [{ id }, recipients] of [
      [one, 1],
      [two, 0],
    ] as const) {
      const { body: left } = await request<AudienceBody>("GET", `/v1/audiences/${id}`);
      expect(left).toMatchObject({ recipients, fileUntil: null });
      const mapped = await request<AudienceBody>("PATCH", `/v1/audiences/${id}`, { mapping: { number: "phone" } });
      expect([mapped.status, mapped.body.error?.code]).toEqual([409, "AUDIENCE_FILE_GONE"]);
    }
    const rows = JSON.stringify([
      await tenants.execute("select * from audience_recipients"),
      await tenants.execute("select * from audience_faults"),
      await tenants.execute("select * from audiences"),
    ]);
    expect(rows).not.toContain(number);
    const files = await tenants.execute(
      `select content from audience_parts where audience_id in ('${one.id}', '${two.id}')`,
    );
    expect(files).toEqual([]);
  });

  test("retention removes audiences with their rows and files", async () => {
    const audience = await check(rowsOf(10));
    const { store } = tenants.server.app;
    const cutoff = { accountId: 1, before: Date.now() + 1000 };
    for (const kind of ["audienceRecipients", "audienceFaults", "audienceParts", "audiences"] as const)
      for (let after: readonly (string | number)[] | null = []; after;)
        after = (await store.deleteExpired(kind, cutoff, after, 2000)).next;
    expect((await request("GET", `/v1/audiences/${audience.id}`)).status).toBe(404);
    for (const table of ["audiences", "audience_recipients", "audience_faults", "audience_parts"])
      expect(await tenants.execute(`select * from ${table}`)).toEqual([]);
  });

  test("an account has at most the set number of audiences", async () => {
    const few = await openTenants(engine, undefined, { env: { HELIOGRAPH_AUDIENCES_MAX: "1" } });
    const add = () => few.server.request<AudienceBody>("POST", "/v1/audiences", { name: "a", size: 1 });
    expect((await add()).status).toBe(201);
    const refused = await add();
    expect([refused.status, refused.body.error?.code]).toEqual([409, "TOO_MANY_AUDIENCES"]);
    await few.close();
  });

  test("the stored files of an account have at most the set size together", async () => {
    const small = await openTenants(engine, undefined, { env: { HELIOGRAPH_AUDIENCE_STORED_MB: "1" } });
    const add = (size: number) => small.server.request<AudienceBody>("POST", "/v1/audiences", { name: "a", size });
    const { body } = await add(600_000);
    const refused = await add(600_000);
    expect([refused.status, refused.body.error?.code]).toEqual([409, "TOO_MANY_AUDIENCES"]);
    expect(refused.body.error?.message).toContain("HELIOGRAPH_AUDIENCE_STORED_MB");
    await small.server.request("DELETE", `/v1/audiences/${body.id}`);
    expect((await add(600_000)).status).toBe(201);
    await small.close();
  });
});

describe.each(ENGINES)("the check of an audience on %s", (engine) => {
  afterEach(closeAll);

  test("continues after a restart where it stopped, and counts no row twice", async () => {
    const server = await new Restartable(await environment(engine)).start();
    const request = <T>(method: string, path: string, body?: unknown) => server.request<T>(method, path, body);
    const id = await upload(request, rowsOf(20_000) + rowsOf(100).replace(/^.*\n/, ""));
    await eventually(
      () => request<AudienceBody>("GET", `/v1/audiences/${id}`),
      ({ body }) => body.checked > 0,
    );
    await server.stop();
    await server.start();
    const audience = await checked(request, id);
    expect(audience).toMatchObject({ state: "ready", rows: 20_100, recipients: 20_000, duplicates: 100, faults: 0 });
  });
});

describe.runIf(hasPostgres)("two nodes", () => {
  afterEach(closeAll);

  test("check audiences together, each row once, also when one of them stops", async () => {
    const env = await environment("postgres");
    const one = await new Restartable(env).start();
    const two = await new Restartable(env).start();
    const request = <T>(method: string, path: string, body?: unknown) => two.request<T>(method, path, body);
    const ids = await Promise.all([1, 2, 3].map(() => upload(request, rowsOf(10_000))));
    await one.stop();
    for (const id of ids)
      expect(await checked(request, id)).toMatchObject({ state: "ready", rows: 10_000, recipients: 10_000 });
  });
});
