import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gunzip, inflate, inflateRaw } from "node:zlib";
import { Problem } from "../model/problem.ts";

/** `Accept-Encoding` of a 415 response. */
export const BODY_ENCODINGS = "gzip, deflate, identity";

const CHARSET = /;\s*charset\s*=\s*("?)([^";\s]*)\1/i;

/** Refuses a body with a charset other than UTF-8. */
export function checkCharset({ "content-type": type = "" }: IncomingHttpHeaders): void {
  const charset = CHARSET.exec(type)?.[2]?.toLowerCase();
  if (charset === undefined || charset === "utf-8" || charset === "utf8") return;
  const message = "The charset of a body is utf-8.";
  throw new Problem("UNSUPPORTED_MEDIA_TYPE", { faults: [{ parameter: "Content-Type", message }] });
}

/** Content encoding of a body; null for identity. */
export function encodingOf({ "content-encoding": value = "" }: IncomingHttpHeaders): string | null {
  const encoding = value.trim().toLowerCase();
  return encoding === "" || encoding === "identity" ? null : encoding;
}

/**
 * Decompresses a body, off the event loop. It stops at the size limit and returns null, so that a decompression bomb costs
 * no more than an ordinary body.
 */
export async function decompress(bytes: Buffer, encoding: string, bytesMax: number): Promise<Buffer | null> {
  const decode = decoderFor(encoding, bytes);
  if (!decode) throw unsupportedEncoding();
  try {
    return await decode(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return null;
    const message = `The body is not ${encoding}, as its Content-Encoding says.`;
    throw new Problem("INVALID_JSON", { message, cause: error });
  }
}

export function bodyTooLarge(bytesMax: number, cause?: unknown, when = ""): Problem {
  const limit = bytesMax >= MIB ? `${bytesMax / MIB} MiB (HELIOGRAPH_BODY_MAX_MB)` : `${bytesMax / 1024} KiB`;
  return new Problem("BODY_TOO_LARGE", {
    message: `The body is larger than ${limit}${when}: split the request.`,
    cause,
  });
}

const MIB = 1_048_576;

export function unsupportedEncoding(): Problem {
  const message = `A body may have the Content-Encoding ${BODY_ENCODINGS}.`;
  return new Problem("UNSUPPORTED_MEDIA_TYPE", { faults: [{ parameter: "Content-Encoding", message }] });
}

/** `deflate` means the zlib format, but some clients omit its header and send raw deflate. */
function decoderFor(encoding: string, bytes: Buffer) {
  if (encoding === "gzip" || encoding === "x-gzip") return promisify(gunzip);
  if (encoding !== "deflate") return null;
  const isZlib = bytes.length >= 2 && bytes.readUInt8(0) % 16 === 8 && bytes.readUInt16BE(0) % 31 === 0;
  return isZlib ? promisify(inflate) : promisify(inflateRaw);
}
