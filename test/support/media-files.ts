import type { CarrierMedia } from "../../src/carriers/carrier-media.ts";
import type { TestServer } from "./test-server.ts";

const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const office = (folder: string): Buffer =>
  latin(
    `PK\u0003\u0004 ${folder}document.xml ... PK\u0001\u0002 [Content_Types].xml PK\u0001\u0002 ${folder}document.xml`,
  );

/** Files that have little more than what tells their type. */
export const FILES: Readonly<Record<string, Buffer>> = {
  "image/jpeg": latin("\u00FF\u00D8\u00FF\u00E0\u0000\u0010JFIF\u0000 a picture"),
  "image/png": Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
  "image/gif": latin("GIF89a\u0001\u0000\u0001\u0000"),
  "image/webp": latin("RIFF\u0024\u0000\u0000\u0000WEBPVP8 "),
  "video/mp4": latin("\u0000\u0000\u0000\u0018ftypisom\u0000\u0000\u0002\u0000"),
  "video/3gpp": latin("\u0000\u0000\u0000\u0018ftyp3gp4\u0000\u0000\u0002\u0000"),
  "video/webm": latin("\u001AE\u00DF\u00A3\u0001\u0000\u0042\u0082webm"),
  "audio/mp4": latin("\u0000\u0000\u0000\u0018ftypM4A \u0000\u0000\u0002\u0000"),
  "audio/ogg": latin("OggS\u0000\u0002 OpusHead"),
  "audio/amr": latin("#!AMR\n\u0004"),
  "audio/mpeg": latin("\u00FF\u00FB\u0090\u0064"),
  "audio/aac": latin("\u00FF\u00F1\u0050\u0080"),
  "application/pdf": latin("%PDF-1.7\n1 0 obj"),
  "application/msword": latin("\u00D0\u00CF\u0011\u00E0\u00A1\u00B1\u001A\u00E1 WordDocument"),
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": office("word/"),
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": office("xl/"),
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": office("ppt/"),
  "text/plain": Buffer.from("Zoë, a text\r\nof two lines\t.", "utf8"),
};

let made = 0;

/** Uploads a file that no other call has uploaded; its id. */
export async function uploadMedia(
  { url, key }: Pick<TestServer, "url" | "key">,
  { type = "image/jpeg", name = "file", apikey = key }: { type?: string; name?: string; apikey?: string } = {},
): Promise<string> {
  const response = await fetch(`${url}/v1/media?name=${encodeURIComponent(name)}`, {
    method: "POST",
    headers: { apikey, "content-type": type },
    body: new Uint8Array(newFile(type)),
  });
  const { id } = (await response.json()) as { id: string };
  if (response.status !== 201) throw new Error(`the upload was answered ${response.status}`);
  return id;
}

/** A file with content of its own. */
export const newFile = (type: string): Buffer => Buffer.concat([FILES[type] ?? latin(""), latin(` ${(made += 1)}`)]);

/** For carriers whose messages have no stored media. */
export const noMedia = (): CarrierMedia => ({
  find: async () => null,
  signedUrl: () => "",
  handOver: async () => ({ kind: "failed", description: "" }),
  forget: async () => {},
  postForm: async () => ({ status: 500, text: "" }),
});
