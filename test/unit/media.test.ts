import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { BadForm, boundaryOf, readFormFile } from "../../src/media/form-file.ts";
import { createMediaTokens } from "../../src/media/signed-url.ts";
import { typesOf } from "../../src/media/sniff.ts";
import { FileTooLarge, stageFile } from "../../src/media/staged-file.ts";
import { FILES } from "../support/media-files.ts";

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function whole(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("the type of a file", () => {
  test.each(Object.entries(FILES))("is recognised by its content: %s", (type, bytes) => {
    expect(typesOf(bytes, bytes)).toContain(type);
  });

  test.each([
    ["a program", Buffer.from("\u007FELF\u0002\u0001\u0001\u0000", "latin1")],
    ["an archive", Buffer.from("PK\u0003\u0004 secret.exe PK\u0005\u0006", "latin1")],
    ["a photo of another format (HEIC)", Buffer.from("\u0000\u0000\u0000\u0018ftypheic\u0000", "latin1")],
    ["a Matroska video", Buffer.from("\u001AE\u00DF\u00A3\u0001\u0000matroska", "latin1")],
    ["bytes that are not UTF-8", Buffer.from([0x68, 0x69, 0xff, 0xfe])],
    ["a text with NUL", Buffer.from("a\u0000b")],
    ["nothing", Buffer.alloc(0)],
  ])("is unknown for %s", (_name, bytes) => {
    expect(typesOf(bytes, bytes)).toEqual([]);
  });

  test("of a page with a script is plain text, whatever it is called", () => {
    const page = Buffer.from("<script>alert(1)</script>");
    expect(typesOf(page, page)).toEqual(["text/plain"]);
  });
});

describe("a staged file", () => {
  const folder = (): Promise<string> => mkdtemp(join(inject("scratchFolder"), "staged-"));
  const jpeg = FILES["image/jpeg"] ?? Buffer.alloc(0);

  test("has the size and the digest of its stream, in chunks of any size", async () => {
    const path = await folder();
    const results: object[] = [];
    for (const size of [1, 7, 4096]) {
      const { path: _, ...facts } = await stageFile(path, `of-${size}`, inChunks(jpeg, size), 1000);
      results.push(facts);
    }
    expect(results[0]).toMatchObject({ size: jpeg.length, types: ["image/jpeg"] });
    expect(results.every((each) => JSON.stringify(each) === JSON.stringify(results[0]))).toBe(true);
  });

  test("is removed when the stream passes the limit or breaks", async () => {
    const path = await folder();
    await expect(stageFile(path, "large", inChunks(jpeg, 4), jpeg.length - 1)).rejects.toThrow(FileTooLarge);
    async function* broken(): AsyncGenerator<Buffer> {
      yield jpeg;
      throw new Error("the client left");
    }
    await expect(stageFile(path, "broken", broken(), 1000)).rejects.toThrow("the client left");
    expect(await readdir(path)).toEqual([]);
  });
});

describe("a form with a file", () => {
  const bytes = Buffer.from("first line\r\n--other\r\nlast line\r\n-");
  const formOf = (content: Buffer, fields = ""): Buffer =>
    Buffer.concat([
      Buffer.from(
        `${fields}--limit\r\nContent-Disposition: form-data; name="file"; filename="zoë.txt"\r\nContent-Type: text/plain\r\n\r\n`,
      ),
      content,
      Buffer.from("\r\n--limit--\r\n"),
    ]);

  test.each([1, 2, 5, 1000])("gives its name, type and bytes, in chunks of %i", async (size) => {
    const fields = '--limit\r\nContent-Disposition: form-data; name="kind"\r\n\r\nimage\r\n';
    for (const form of [formOf(bytes), formOf(bytes, fields), formOf(bytes, `a preamble\r\n${fields}`)]) {
      const file = await readFormFile(inChunks(form, size), "limit");
      expect({ ...file, body: await whole(file.body) }).toEqual({ name: "zoë.txt", type: "text/plain", body: bytes });
    }
  });

  test("may have an empty file", async () => {
    const file = await readFormFile(inChunks(formOf(Buffer.alloc(0)), 3), "limit");
    expect(await whole(file.body)).toEqual(Buffer.alloc(0));
  });

  test.each([
    ["no file", '--limit\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--limit--\r\n'],
    ["no boundary", "x".repeat(70_000)],
    ["endless headers", `--limit\r\nX: ${"x".repeat(20_000)}`],
    ["endless fields", '--limit\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(30)],
  ])("is refused with %s", async (_name, form) => {
    await expect(readFormFile(inChunks(Buffer.from(form), 1000), "limit")).rejects.toThrow(BadForm);
  });

  test("is refused when it ends before its last boundary", async () => {
    const file = await readFormFile(inChunks(formOf(bytes).subarray(0, -12), 1000), "limit");
    await expect(whole(file.body)).rejects.toThrow(BadForm);
  });

  test("is recognised by its content type", () => {
    expect(boundaryOf('multipart/form-data; boundary="a b"')).toBe("a b");
    expect(boundaryOf("Multipart/Form-Data; charset=utf-8; boundary=----x")).toBe("----x");
    expect(boundaryOf("image/png")).toBeNull();
    expect(boundaryOf("multipart/form-data")).toBeNull();
  });
});

describe("the token of a media URL", () => {
  const tokens = createMediaTokens(Buffer.from("the key of this test"));
  const ref = { accountId: 7, id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47" };
  const token = tokens.create(ref, 2000);

  test("names the media until it expires", () => {
    expect(tokens.read(token, 1999)).toEqual(ref);
    expect(tokens.read(token, 2000)).toBeNull();
  });

  test("is refused after any change of one character", () => {
    for (let at = 0; at < token.length; at += 1)
      for (const other of ["0", "a", "-", "_"]) {
        if (token[at] === other) continue;
        const changed = token.slice(0, at) + other + token.slice(at + 1);
        // The last letter of the signature has two bits that nothing reads.
        if (at === token.length - 1) continue;
        expect(tokens.read(changed, 0)).toBeNull();
      }
    expect(tokens.read(`${token}a`, 0)).toBeNull();
    expect(tokens.read("", 0)).toBeNull();
  });

  test("of another server is refused", () => {
    expect(createMediaTokens(Buffer.from("another key")).read(token, 0)).toBeNull();
  });
});
