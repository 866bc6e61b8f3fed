import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { readBucketUrl } from "../../src/object-storage/bucket-url.ts";
import { S3Storage } from "../../src/object-storage/s3.ts";
import type { S3Options } from "../../src/object-storage/s3-request.ts";
import { canTestWith, inPath } from "../support/programmes.ts";
import { S3_CREDENTIALS, startS3Server, type S3Server } from "../support/s3-server.ts";

const PART = 128 * 1024;
const MIB = 1024 * 1024;
const ODD_KEY = "media/a b+c&d=e%20é(1)'!*/~.txt";

let server: S3Server;
let folder: string;
beforeEach(async () => {
  server = await startS3Server({ pageSize: 3, partMinBytes: PART });
  folder = await mkdtemp(join(inject("scratchFolder"), "s3-"));
});
afterEach(() => server.close());

const storage = (changes: Partial<S3Options> = {}): S3Storage =>
  new S3Storage({
    endpoint: server.endpoint,
    region: "us-east-1",
    bucket: "backups",
    sessionToken: null,
    retryMs: 1,
    ...S3_CREDENTIALS,
    ...changes,
  });

async function file(bytes: number): Promise<{ path: string; content: Buffer }> {
  const content = randomBytes(bytes);
  const path = join(folder, "content");
  await writeFile(path, content);
  return { path, content };
}

describe("an object storage with the protocol of S3", () => {
  test("stores, reads, lists and deletes objects, under any key, over several pages", async () => {
    const s3 = storage();
    const keys = ["a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", ODD_KEY];
    for (const key of keys) await s3.put(key, Buffer.from(`content of ${key}`));
    const found = await s3.get(ODD_KEY);
    expect(found && (await buffer(found.body)).toString()).toBe(`content of ${ODD_KEY}`);
    expect(found?.bytes).toBe(Buffer.byteLength(`content of ${ODD_KEY}`));
    expect((await s3.list("a/")).map(({ key }) => key)).toEqual(keys.slice(0, 7));
    expect(await s3.list("media/")).toEqual([{ key: ODD_KEY, bytes: found?.bytes }]);
    await s3.delete(ODD_KEY);
    await s3.delete(ODD_KEY);
    expect(await s3.get(ODD_KEY)).toBeNull();
    expect(await s3.list("none/")).toEqual([]);
  });

  test("takes a large file in parts, one in memory at a time, and has it whole", async () => {
    const { path, content } = await file(23 * PART + 1);
    await storage({ partBytes: PART }).putFile("large", path);
    expect(server.objects.get("large")?.equals(content)).toBe(true);
    expect(server.largestPart()).toBe(PART);
    expect(server.uploads.size).toBe(0);
  });

  test("takes a small and an empty file in one request", async () => {
    const { path, content } = await file(1000);
    await storage().putFile("small", path);
    expect(server.objects.get("small")?.equals(content)).toBe(true);
    await writeFile(path, "");
    await storage().putFile("empty", path);
    expect(server.objects.get("empty")?.length).toBe(0);
    expect(server.requests.some((line) => line.includes("uploads"))).toBe(false);
  });

  test.each([
    { title: "answers 503", fault: { status: 503, code: "SlowDown" } as const },
    { title: "cuts the connection", fault: "cut" as const },
    { title: "completes an upload without its answer arriving", fault: "answer-lost" as const },
  ])("that $title twice gets each request again", async ({ fault }) => {
    const { path, content } = await file(3 * PART - 5);
    server.faults.push(
      { on: /partNumber=2/, fault, times: 2 },
      { on: /^POST .*uploadId/, fault, times: 2 },
      { on: /^HEAD/, fault, times: 2 },
    );
    await storage({ partBytes: PART }).putFile("large", path);
    expect(server.objects.get("large")?.equals(content)).toBe(true);
    expect(server.faults.map(({ times }) => times)).toEqual([0, 0, 0]);
  });

  test("that fails in the middle keeps no parts and no object", async () => {
    const { path } = await file(3 * PART - 5);
    server.faults.push({ on: /partNumber=2/, fault: { status: 500, code: "InternalError" }, times: 100 });
    await expect(storage({ partBytes: PART }).putFile("large", path)).rejects.toThrow("500 InternalError");
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
  });

  test("that reports an error after the status 200 has not completed the upload", async () => {
    const { path } = await file(3 * PART - 5);
    server.faults.push({ on: /^POST .*uploadId/, fault: "late-error", times: 100 });
    await expect(storage({ partBytes: PART }).putFile("large", path)).rejects.toThrow("InternalError");
    expect(server.objects.size).toBe(0);
  });

  test("refuses wrong credentials, and the error names neither them nor the signature", async () => {
    const secretAccessKey = "another-secret";
    for (const [changes, code] of [
      [{ secretAccessKey }, "SignatureDoesNotMatch"],
      [{ accessKeyId: "AKIDOTHER" }, "InvalidAccessKeyId"],
      [{ region: "eu-west-1" }, "AuthorizationHeaderMalformed"],
      [{ sessionToken: "token" }, "InvalidToken"],
      [{ bucket: "other" }, "NoSuchBucket"],
    ] as const) {
      const error = await storage(changes)
        .list("")
        .catch((thrown: unknown) => thrown as Error & { code: string });
      expect(error).toMatchObject({ name: "ObjectStorageError", code });
      const { message } = error as Error;
      expect(message).toContain(`Refused & explained: ${code}`);
      expect(message).not.toMatch(/AKID|another-secret|Signature=/);
    }
    expect(server.requests).toHaveLength(5);
  });

  test("takes temporary credentials", async () => {
    const sessionToken = "a/session+token==";
    const other = await startS3Server({ credentials: { ...S3_CREDENTIALS, sessionToken } });
    await storage({ endpoint: other.endpoint, sessionToken }).put("key", Buffer.from("1"));
    expect(other.objects.size).toBe(1);
    await other.close();
  });

  test("that cannot be reached is named with the reason", async () => {
    await expect(storage({ endpoint: "http://127.0.0.1:1" }).list("")).rejects.toMatchObject({
      name: "ObjectStorageError",
      message: expect.stringMatching(/no answer to GET bucket \((ECONNREFUSED|NO_RESPONSE)\)/),
    });
  });

  test("loses abandoned uploads under the prefix, and no younger ones", async () => {
    const parts = new Map<number, Buffer>();
    for (const [id, key, at] of [
      ["1", "h/old", 1000],
      ["2", "h/new", 9000],
      ["3", "other/old", 1000],
      ["4", "h/old2", 1000],
      ["5", "h/old3", 1000],
    ] as const)
      server.uploads.set(id, { key, initiated: new Date(at), parts });
    expect(await storage().removeAbandonedUploads("h/", 5000)).toBe(3);
    expect([...server.uploads.keys()]).toEqual(["2", "3"]);
  });
});

// The server of these tests verifies signatures by itself; a widespread client shows that it does so as others do.
test.runIf(canTestWith(inPath("s3cmd"), "s3cmd"))(
  "s3cmd reads objects that we store, and stores objects that we read",
  async () => {
    const run = promisify(execFile);
    const args = [
      "--no-ssl",
      `--host=127.0.0.1:${server.port}`,
      `--host-bucket=127.0.0.1:${server.port}`,
      "--region=us-east-1",
    ];
    const keys = [`--access_key=${S3_CREDENTIALS.accessKeyId}`, `--secret_key=${S3_CREDENTIALS.secretAccessKey}`];
    const s3cmd = (secret: string, ...rest: string[]) =>
      run("s3cmd", ["-c", "/dev/null", ...args, keys[0] ?? "", secret, ...rest], {
        env: { PATH: "/usr/bin:/bin", HOME: folder },
      });
    const { path, content } = await file(6 * MIB);
    await s3cmd(keys[1] ?? "", "put", "--multipart-chunk-size-mb=5", path, "s3://backups/theirs/file one");
    const theirs = await storage().get("theirs/file one");
    const hash = createHash("sha256").update(content).digest("hex");
    expect(
      theirs &&
        createHash("sha256")
          .update(await buffer(theirs.body))
          .digest("hex"),
    ).toBe(hash);
    await storage({ partBytes: 5 * MIB }).putFile("ours/file", path);
    await s3cmd(keys[1] ?? "", "get", "s3://backups/ours/file", join(folder, "got"));
    expect((await readFile(join(folder, "got"))).equals(content)).toBe(true);
    await expect(s3cmd("--secret_key=wrong", "put", path, "s3://backups/wrong")).rejects.toThrow(
      "SignatureDoesNotMatch",
    );
  },
);

test("the address of a place in a bucket is bucket and prefix, and nothing else", () => {
  expect(readBucketUrl("s3://my-bucket")).toEqual({ bucket: "my-bucket", prefix: "" });
  expect(readBucketUrl("s3://my-bucket/")).toEqual({ bucket: "my-bucket", prefix: "" });
  expect(readBucketUrl("s3://my.bucket/a/b-1_2/")).toEqual({ bucket: "my.bucket", prefix: "a/b-1_2/" });
  for (const wrong of [
    "s3://",
    "s3://b",
    "s3://Bucket",
    "s3://user:secret@bucket/x",
    "s3://bucket//x",
    "s3://bucket/../x",
    "s3://bucket/a?b",
    "s3://bucket/a b",
    `s3://bucket/${"a".repeat(600)}`,
    "gs://bucket",
    "/folder",
  ])
    expect([wrong, readBucketUrl(wrong)]).toEqual([wrong, null]);
});
