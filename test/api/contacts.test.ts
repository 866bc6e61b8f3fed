import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checked, upload, type AudienceBody } from "../support/audiences.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface ContactBody {
  number: string;
  name: string | null;
  attributes: Record<string, string>;
  tags: string[];
  consents: { channel: string; type: string; granted: boolean; source: string | null; at: number }[];
  optedOut: boolean;
  error?: ErrorBody;
}

interface ImportBody {
  id: string;
  state: string;
  total: number;
  done: number;
  failure: { code: string } | null;
  error?: ErrorBody;
}

interface Recipients {
  data: { number: string; variables: Record<string, string>; optedOut: boolean }[];
}

const numberAt = (index: number): string => String(15_550_400_000 + index);
const promo = { channel: "sms", type: "PROMO", granted: true, source: "web form", at: 1_767_225_600_000 };

describe.each(ENGINES)("contacts on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const request = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    server.request<T>(method, path, body, headers);
  /** All contacts of a list. On a busy machine a page may be short, and only the last one is empty. */
  async function list(query: string): Promise<string[]> {
    const seen: string[] = [];
    let cursor = "";
    do {
      const path = `/v1/contacts?${query}${cursor}`;
      const { body } = await request<{ data: ContactBody[]; nextCursor: string | null }>("GET", path);
      expect(body.data.length).toBeGreaterThan(body.nextCursor === null ? -1 : 0);
      seen.push(...body.data.map(({ number }) => number));
      cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
    } while (cursor !== "");
    return seen;
  }

  test("a contact is created once, changed field by field, shown with its opt-out, and deleted", async () => {
    const fields = { name: "Ada", attributes: { city: "Pune", plan: "gold" }, tags: ["vip"], consents: [promo] };
    const created = await request<ContactBody>("POST", "/v1/contacts", { number: "+1 555 010 0100", ...fields });
    expect([created.status, created.body]).toMatchObject([201, { number: "15550100100", ...fields, optedOut: false }]);
    const again = await request<ContactBody>("POST", "/v1/contacts", { number: "15550100100" });
    expect([again.status, again.body.error?.code]).toEqual([409, "CONTACT_EXISTS"]);

    await request("POST", "/api/optouts", { number: "15550100100" });
    const withdrawn = { ...promo, granted: false, source: null, at: promo.at + 1 };
    const changed = await request<ContactBody>("PUT", "/v1/contacts/15550100100", {
      attributes: { plan: null, score: "7" },
      consents: [withdrawn],
    });
    expect(changed.body).toMatchObject({ name: "Ada", tags: ["vip"], consents: [withdrawn], optedOut: true });
    expect(changed.body.attributes).toEqual({ city: "Pune", score: "7" });
    expect((await request<ContactBody>("GET", "/v1/contacts/+15550100100")).body).toEqual(changed.body);
    const attributes = await request<{ data: string[] }>("GET", "/v1/contact-attributes");
    expect(attributes.body.data).toEqual(["city", "plan", "score"]);

    expect((await request("DELETE", "/v1/contacts/15550100100")).status).toBe(200);
    expect((await request("GET", "/v1/contacts/15550100100")).status).toBe(404);
    expect((await request("DELETE", "/v1/contacts/15550100100")).status).toBe(404);
  });

  test("changes of one contact at the same time all count", async () => {
    const path = `/v1/contacts/${numberAt(900)}`;
    const names = ["city", "plan", "score", "lang"];
    await Promise.all(names.map((name) => request("PUT", path, { attributes: { [name]: name } })));
    const { body } = await request<ContactBody>("GET", path);
    expect(Object.keys(body.attributes).toSorted()).toEqual(names.toSorted());
    await request("DELETE", path);
  });

  test("all faults of a contact are named at once, and nothing is stored", async () => {
    const body = {
      number: "hello",
      name: " ",
      tags: ["a,b"],
      attributes: { number: "1" },
      consents: [{ channel: "fax", type: "PROMO", granted: true }],
    };
    const { status, body: refused } = await request<ContactBody>("POST", "/v1/contacts", body);
    expect(status).toBe(400);
    expect(refused.error?.details.map(({ parameter }) => parameter).toSorted()).toEqual(
      expect.arrayContaining(["attributes", "consents[0].channel", "name", "tags[0]"]),
    );
    const number = await request<ContactBody>("POST", "/v1/contacts", { number: "hello" });
    expect(number.body.error?.details).toMatchObject([{ parameter: "number" }]);
    const tooMany = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a${index}`, "1"]));
    const attributes = await request<ContactBody>("PUT", "/v1/contacts/15550100100", { attributes: tooMany });
    expect([attributes.status, attributes.body.error?.parameter]).toEqual([400, "attributes"]);
    expect((await request("GET", "/v1/contacts/15550100100")).status).toBe(404);
  });

  test("lists are filtered by every field, page by page, and no page with a cursor is empty", async () => {
    for (let index = 0; index < 30; index += 1)
      await request("PUT", `/v1/contacts/${numberAt(index)}`, {
        name: index % 2 === 0 ? `Bea ${index}` : null,
        attributes: { city: index % 3 === 0 ? 'Pu"ne' : "Delhi" },
        tags: index % 5 === 0 ? ["gold", "old"] : ["old"],
        consents: [{ ...promo, granted: index % 4 === 0 }],
      });
    const expected = (isOne: (index: number) => boolean): string[] =>
      Array.from({ length: 30 }, (_, index) => index)
        .filter(isOne)
        .map(numberAt);
    expect(await list("tag=gold")).toEqual(expected((index) => index % 5 === 0));
    expect(await list("tag=go")).toEqual([]);
    expect(await list(`attribute=${encodeURIComponent('city:Pu"ne')}`)).toEqual(expected((index) => index % 3 === 0));
    expect(await list("consent=sms:PROMO")).toEqual(expected((index) => index % 4 === 0));
    expect(await list("q=bEa")).toEqual(expected((index) => index % 2 === 0));
    expect(await list("q=400027")).toEqual([numberAt(27)]);
    expect(await list("q=bea&tag=gold&consent=sms:PROMO")).toEqual(expected((index) => index % 20 === 0));

    expect(await list("tag=gold&limit=2")).toEqual(expected((index) => index % 5 === 0));

    const { body: refused } = await request<ContactBody>(
      "GET",
      "/v1/contacts?tag=a,b&attribute=city&consent=fax&segment=nothing&cursor=x",
    );
    expect(refused.error?.details.map(({ parameter }) => parameter)).toEqual([
      "tag",
      "attribute",
      "consent",
      "segment",
      "cursor",
    ]);
  });

  test("a test key has contacts of its own", async () => {
    const asTest = { apikey: server.testKey };
    await request("PUT", "/v1/contacts/15550100177", { name: "Test" }, asTest);
    expect((await request("GET", "/v1/contacts/15550100177")).status).toBe(404);
    const { body } = await request<{ data: ContactBody[] }>("GET", "/v1/contacts", undefined, asTest);
    expect(body.data).toMatchObject([{ number: "15550100177", name: "Test" }]);
  });

  test("an audience of a segment has the contacts of that moment, with their attributes as variables", async () => {
    for (let index = 0; index < 3; index += 1)
      await request("PUT", `/v1/contacts/${numberAt(100 + index)}`, {
        name: `Cy ${index}`,
        attributes: { city: "Oslo" },
        tags: ["north"],
      });
    await request("POST", "/api/optouts", { number: numberAt(101) });
    const segment = { name: "North", tags: ["north"], attributes: { city: "Oslo" } };
    expect((await request("POST", "/api/segments", segment)).status).toBe(201);
    expect(await list("segment=North")).toHaveLength(3);
    const made = await request<AudienceBody & { segment: string }>("POST", "/v1/audiences", {
      name: "Northern",
      segment: "North",
    });
    expect([made.status, made.body.segment]).toEqual([201, "North"]);
    const audience = await checked(request, made.body.id);
    expect(audience).toMatchObject({ state: "ready", rows: 3, recipients: 3, optedOut: 1, faults: 0 });
    await request("DELETE", `/v1/contacts/${numberAt(100)}`);
    const { body } = await request<Recipients>("GET", `/v1/audiences/${made.body.id}/recipients`);
    expect(body.data.map(({ number, optedOut }) => [number, optedOut])).toEqual([
      [numberAt(100), false],
      [numberAt(101), true],
      [numberAt(102), false],
    ]);
    expect(body.data[0]?.variables).toMatchObject({ name: "Cy 0", city: "Oslo", plan: "" });

    const unknown = await request<AudienceBody>("POST", "/v1/audiences", { name: "x", segment: "South" });
    expect([unknown.status, unknown.body.error?.parameter]).toEqual([400, "segment"]);
    const both = await request<AudienceBody>("POST", "/v1/audiences", { name: "x", segment: "North", size: 9 });
    expect([both.status, both.body.error?.parameter]).toEqual([400, "size"]);
    await request("POST", "/api/segments", { name: "Nobody", tags: ["nobody"] });
    const empty = await request<AudienceBody>("POST", "/v1/audiences", { name: "x", segment: "Nobody" });
    expect(await checked(request, empty.body.id)).toMatchObject({ state: "failed", failure: { code: "NO_CONTACTS" } });
  });

  test("an import makes contacts of an uploaded file and keeps what the file does not have", async () => {
    const [first, second] = [numberAt(500), numberAt(501)];
    await request("PUT", `/v1/contacts/${first}`, { name: "Old name", attributes: { plan: "gold" }, tags: ["vip"] });
    const file = `phone,Name,town\n${first},New name,Rome\n${second},,\nnobody,x,y\n`;
    const audience = await checked(request, await upload(request, file));
    const { body: begun, status } = await request<ImportBody>("POST", "/v1/contact-imports", {
      audienceId: audience.id,
      tags: ["imported"],
      consents: [promo],
    });
    expect([status, begun.state, begun.total]).toEqual([201, "running", 2]);
    const { body: ended } = await eventually(
      () => request<ImportBody>("GET", `/v1/contact-imports/${begun.id}`),
      ({ body }) => body.state !== "running",
    );
    expect(ended).toMatchObject({ state: "finished", done: 2, failure: null });
    expect((await request<ContactBody>("GET", `/v1/contacts/${first}`)).body).toMatchObject({
      name: "New name",
      attributes: { plan: "gold", town: "Rome" },
      tags: ["imported", "vip"],
      consents: [promo],
    });
    expect((await request<ContactBody>("GET", `/v1/contacts/${second}`)).body).toMatchObject({
      name: null,
      attributes: {},
      tags: ["imported"],
    });
    const imports = await request<{ data: ImportBody[] }>("GET", "/v1/contact-imports");
    expect(imports.body.data.map(({ id }) => id)).toEqual([begun.id]);

    const wrong = await request<ImportBody>("POST", "/v1/contact-imports", {
      audienceId: audience.id,
      name: "nothing",
      attributes: { number: "town", age: "years" },
    });
    expect(wrong.body.error?.details.map(({ parameter }) => parameter)).toEqual([
      "name",
      "attributes.age",
      "attributes",
    ]);
    const gone = await request<ImportBody>("POST", "/v1/contact-imports", { audienceId: begun.id });
    expect([gone.status, gone.body.error?.parameter]).toEqual([400, "audienceId"]);
  });

  test("an import of many rows ends with every contact, and one whose audience is deleted says so", async () => {
    const rows = Array.from({ length: 3000 }, (_, index) => `${15_550_600_000 + index},Dee ${index}\n`).join("");
    const audience = await checked(request, await upload(request, `phone,name\n${rows}`));
    const begun = await request<ImportBody>("POST", "/v1/contact-imports", {
      audienceId: audience.id,
      tags: ["many"],
    });
    const end = (id: string) =>
      eventually(
        () => request<ImportBody>("GET", `/v1/contact-imports/${id}`),
        ({ body }) => body.state !== "running",
      );
    expect((await end(begun.body.id)).body).toMatchObject({ state: "finished", done: 3000 });
    expect(await list("tag=many&limit=200")).toHaveLength(3000);
    const book = { accountId: 1, test: false };
    const { rows: stored } = await server.app.store.listContacts(book, { tags: ["many"] }, null, 5000);
    expect(stored.map(({ number, name }) => [number, name])).toEqual(
      Array.from({ length: 3000 }, (_, index) => [String(15_550_600_000 + index), `Dee ${index}`]),
    );

    await request("DELETE", `/v1/audiences/${audience.id}`);
    const { body } = await request<ImportBody>("POST", "/v1/contact-imports", { audienceId: audience.id });
    expect(body.error?.parameter).toBe("audienceId");
  });
});
