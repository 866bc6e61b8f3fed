import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { FILES } from "../support/media-files.ts";
import { startMovedClockServer } from "../support/moved-clock-server.ts";
import { S3_CREDENTIALS, startS3Server } from "../support/s3-server.ts";
import { startTestServer, type ErrorBody } from "../support/test-server.ts";

interface MediaBody {
  id: string;
  state: string;
  kind: string;
  type: string;
  size: number;
  sha256: string;
  name: string | null;
  test: boolean;
  url: string;
  expiresAt: number;
  message?: string;
  error?: ErrorBody;
}

const HOUR_MS = 3_600_000;

interface Uploaded {
  status: number;
  body: MediaBody;
}

const JPEG = FILES["image/jpeg"] ?? Buffer.alloc(0);
const jpegOf = (words: string): Buffer => Buffer.concat([JPEG, Buffer.from(words)]);

async function upload(
  url: string,
  apikey: string,
  content: Uint8Array<ArrayBuffer> | FormData,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${url}/v1/media`, { method: "POST", headers: { apikey, ...headers }, body: content });
  return { status: response.status, body: await response.json() } as Uploaded;
}

const uploadJpeg = (url: string, key: string, words: string): Promise<Uploaded> =>
  upload(url, key, new Uint8Array(jpegOf(words)), { "content-type": "image/jpeg" });

const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
    : [];

describe.each(ENGINES)("media on %s", (engine) => {
  let tenants: Tenants;
  let url: string;
  let key: string;
  let folder: string;
  let stranger: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(inject("scratchFolder"), "media-"));
    tenants = await openTenants(engine, undefined, {
      env: { HELIOGRAPH_MEDIA_DIR: folder, HELIOGRAPH_MEDIA_STORED_MB: "8", HELIOGRAPH_MEDIA_MAX_MB: "6" },
    });
    ({ url, key } = tenants.server);
    stranger = (await tenants.addAccount("Stranger")).minted.secret;
  });
  afterAll(() => tenants.close());

  const content = (id: string, query = "", apikey = key) =>
    fetch(`${url}/v1/media/${id}/content${query}`, { headers: { apikey } });

  test("an uploaded file is described, listed, downloaded and deleted", async () => {
    const bytes = jpegOf("of autumn");
    const { status, body } = await upload(url, key, new Uint8Array(bytes), { "content-type": "image/jpeg" });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      state: "ready",
      kind: "image",
      type: "image/jpeg",
      size: bytes.length,
      sha256: sha256Of(bytes),
      test: false,
      name: null,
      url: `${url}/v1/media/${body.id}/content`,
    });
    const { request } = tenants.server;
    expect((await request("GET", `/v1/media/${body.id}`)).body).toEqual(body);
    const list = await request<{ data: MediaBody[] }>("GET", "/v1/media?from=upload");
    expect(list.body.data).toContainEqual(body);
    const got = await content(body.id);
    expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      "content-type": "image/jpeg",
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    });
    expect((await content(body.id, "?disposition=inline")).headers.get("content-disposition")).toBe("inline");
    expect(filesIn(folder)).toContain(body.id);
    expect((await request("DELETE", `/v1/media/${body.id}`)).status).toBe(200);
    expect((await request("GET", `/v1/media/${body.id}`)).status).toBe(404);
    expect((await content(body.id)).status).toBe(404);
    expect(filesIn(folder)).not.toContain(body.id);
  });

  test("a form with a file is an upload with its name", async () => {
    const form = new FormData();
    form.append("purpose", "messages");
    form.append("file", new Blob([new Uint8Array(jpegOf("in a form"))], { type: "image/jpeg" }), "../zoë's.jpg");
    const { status, body } = await upload(url, key, form);
    expect({ status, name: body.name, type: body.type }).toEqual({
      status: 201,
      name: "zoë's.jpg",
      type: "image/jpeg",
    });
    const got = await content(body.id);
    expect(got.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''zo%C3%AB%27s.jpg");
  });

  test("identical content of an account is stored once, also when it comes at the same time", async () => {
    const first = await uploadJpeg(url, key, "twice");
    const again = await upload(url, key, new Uint8Array(jpegOf("twice")), { "content-type": "image/jpg" });
    expect({ status: again.status, id: again.body.id }).toEqual({ status: 200, id: first.body.id });
    const results = await Promise.all(Array.from({ length: 6 }, () => uploadJpeg(url, key, "at once")));
    expect(new Set(results.map(({ body }) => body.id)).size).toBe(1);
    expect(results.filter(({ status }) => status === 201)).toHaveLength(1);
    await eventually(
      () => tenants.execute("select id from media where state = 'deleting'"),
      (rows) => rows.length === 0,
    );
    const { body: other } = await uploadJpeg(url, stranger, "twice");
    expect(other.id).not.toBe(first.body.id);
    const { body: ofTest } = await uploadJpeg(url, tenants.server.testKey, "twice");
    expect({ test: ofTest.test, isOwn: ofTest.id !== first.body.id }).toEqual({ test: true, isOwn: true });
  });

  test.each([
    ["a declared type that the content is not", "image/png", JPEG, "MEDIA_TYPE_UNSUPPORTED", "Content-Type"],
    [
      "a program that calls itself a picture",
      "image/png",
      Buffer.from("MZ\u0000\u0001"),
      "MEDIA_TYPE_UNSUPPORTED",
      "file",
    ],
    ["a page that calls itself a page", "text/html", Buffer.from("<html>"), "MEDIA_TYPE_UNSUPPORTED", "Content-Type"],
    ["an empty file", "image/png", Buffer.alloc(0), "INVALID_REQUEST", "file"],
    ["an image of more than 5 MB", "image/jpeg", jpegOf("x".repeat(5_242_880)), "MEDIA_TOO_LARGE", "file"],
    [
      "a file above the setting",
      "video/mp4",
      Buffer.concat([FILES["video/mp4"] ?? JPEG, Buffer.alloc(6_291_456)]),
      "MEDIA_TOO_LARGE",
      "file",
    ],
  ])("refuses %s, names the field and stores nothing", async (_name, type, bytes, code, parameter) => {
    const before = filesIn(folder);
    const { status, body } = await upload(url, key, new Uint8Array(bytes), { "content-type": type });
    expect({ status: status >= 400 && status < 500, code: body.error?.code, parameter: body.error?.parameter }).toEqual(
      {
        status: true,
        code,
        parameter,
      },
    );
    expect(filesIn(folder)).toEqual(before);
  });

  test("refuses more than the account may store", async () => {
    const large = () => Buffer.concat([FILES["video/mp4"] ?? JPEG, Buffer.alloc(4_500_000, String(Math.random()))]);
    const first = await upload(url, key, new Uint8Array(large()), { "content-type": "video/mp4" });
    expect(first.status).toBe(201);
    const second = await upload(url, key, new Uint8Array(large()), { "content-type": "video/mp4" });
    expect({ status: second.status, code: second.body.error?.code }).toEqual({ status: 409, code: "MEDIA_FULL" });
    await tenants.server.request("DELETE", `/v1/media/${first.body.id}`);
  });

  test("a test key sees only its own media, and another account none", async () => {
    const { body: live } = await uploadJpeg(url, key, "live");
    const { testKey, request } = tenants.server;
    for (const apikey of [testKey, stranger]) {
      expect((await content(live.id, "", apikey)).status).toBe(404);
      const list = await request<{ data: MediaBody[] }>("GET", "/v1/media", undefined, { apikey });
      expect(list.body.data.map(({ id }) => id)).not.toContain(live.id);
      expect((await request("DELETE", `/v1/media/${live.id}`, undefined, { apikey })).status).toBe(404);
    }
    expect((await request("GET", `/v1/media/${live.id}`)).status).toBe(200);
  });

  test("what a crash left of an upload is removed", async () => {
    const { body } = await uploadJpeg(url, key, "interrupted");
    await tenants.execute(`update media set state = 'storing', content_key = null, due_at = 0 where id = '${body.id}'
      returning id`);
    expect((await tenants.server.request("GET", `/v1/media/${body.id}`)).status).toBe(404);
    await eventually(
      () => filesIn(folder),
      (names) => !names.includes(body.id),
    );
    await eventually(
      () => tenants.execute(`select id from media where id = '${body.id}'`),
      (rows) => rows.length === 0,
    );
  });

  test("an unsigned or a changed media URL is not found", async () => {
    const { body } = await uploadJpeg(url, key, "signed");
    for (const token of [body.id, "x", `1-zzzzzz-${body.id.replaceAll("-", "")}-${"a".repeat(43)}`])
      expect((await fetch(`${url}/media/${token}`)).status).toBe(404);
    expect((await fetch(`${url}/media/`)).status).toBe(404);
  });
});

describe.each(ENGINES)("the life of media on %s", (engine) => {
  test("ends after the days of the setting without use", async () => {
    const folder = await mkdtemp(join(inject("scratchFolder"), "media-"));
    const server = await startMovedClockServer(engine, {
      env: { HELIOGRAPH_MEDIA_DIR: folder, HELIOGRAPH_MEDIA_DAYS: "2" },
    });
    const { url, key } = server;
    const { body: unused } = await uploadJpeg(url, key, "unused");
    const { body: used } = await uploadJpeg(url, key, "used");
    await server.leap(36 * HOUR_MS);
    expect((await uploadJpeg(url, key, "used")).body.id).toBe(used.id);
    await server.leap(36 * HOUR_MS);
    await server.travel(5000);
    await eventually(
      () => server.rows<{ id: string }>("select id from media"),
      (rows) => rows.every(({ id }) => id === used.id),
    );
    expect(filesIn(folder)).toEqual([used.id]);
    expect((await server.request("GET", `/v1/media/${unused.id}`)).status).toBe(404);
    await server.close();
  });
});

describe.each(ENGINES)("the file of a user on %s", (engine) => {
  test("is removed with the texts of its account", async () => {
    const folder = await mkdtemp(join(inject("scratchFolder"), "media-"));
    const server = await startMovedClockServer(engine, { env: { HELIOGRAPH_MEDIA_DIR: folder } });
    await server.request("PATCH", "/api/account", { keepTextsDays: 2 });
    const at = server.clock.now();
    const payload = { mimeType: "image/jpeg", fileSizeBytes: 0, fileName: "", fileUri: "https://files.example/1" };
    const file = { category: "image", payload, thumbnail: null, mediaId: newId(at) };
    const message = { accountId: 1, id: newId(at), channel: "rcs", from: "15550100100", to: "shop", at } as const;
    const origin = { carrier: "1/none", carrierMessageId: "1" };
    await server.app.store.storeInbound(
      [{ ...message, content: { kind: "file", file }, answers: null, origin }],
      [],
      at,
    );
    const known = async (): Promise<number> => (await server.request("GET", `/v1/media/${file.mediaId}`)).status;
    expect(await known()).toBe(200);
    await server.leap(36 * HOUR_MS);
    expect(await known()).toBe(200);
    await server.leap(36 * HOUR_MS);
    await server.travel(5000);
    await eventually(known, (status) => status === 404);
    await server.close();
  });
});

test("media is stored in a bucket and read from any node", async () => {
  const bucket = await startS3Server();
  const server = await startTestServer("sqlite", {
    env: {
      HELIOGRAPH_MEDIA_DIR: "s3://backups/media",
      HELIOGRAPH_S3_ENDPOINT: bucket.endpoint,
      HELIOGRAPH_S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      HELIOGRAPH_S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    },
  });
  const { body } = await uploadJpeg(server.url, server.key, "in a bucket");
  const objects = (): string[] => [...bucket.objects.keys()];
  expect(objects()).toEqual([`media/1/${body.id.slice(-2)}/${body.id}`]);
  const got = await fetch(body.url, { headers: { apikey: server.key } });
  expect(Buffer.from(await got.arrayBuffer())).toEqual(jpegOf("in a bucket"));
  await server.request("DELETE", `/v1/media/${body.id}`);
  expect(objects()).toEqual([]);
  await server.close();
  await bucket.close();
});

test("an upload is refused while the disk of the folder is nearly full", async () => {
  let freeBytes = 10_000_000_000;
  const server = await startTestServer("sqlite", {
    readDiskSpace: async () => ({ freeBytes, totalBytes: 10_000_000_000 }),
  });
  expect((await uploadJpeg(server.url, server.key, "room")).status).toBe(201);
  freeBytes = 200_000_000;
  const { status, body } = await uploadJpeg(server.url, server.key, "no room");
  expect({ status, code: body.error?.code }).toEqual({ status: 503, code: "STORAGE_FULL" });
  await server.close();
});

test.runIf(ENGINES.includes("postgres"))("without a storage that nodes share, PostgreSQL takes no media", async () => {
  const server = await startTestServer("postgres");
  const { status, body } = await uploadJpeg(server.url, server.key, "nowhere");
  expect({ status, code: body.error?.code }).toEqual({ status: 409, code: "MEDIA_STORAGE_MISSING" });
  expect(body.message).toContain("HELIOGRAPH_MEDIA_DIR");
  await server.close();
});
