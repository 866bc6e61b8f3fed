import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A response body that all clients share: it is in memory once per encoding. */
export interface SharedBody {
  readonly identity: Buffer;
  readonly br: Buffer | null;
  readonly gzip: Buffer | null;
  readonly etag: string;
}

/** Compressing less than one packet saves nothing. */
const COMPRESSED_FROM = 1400;
/** Level 5 compresses the OpenAPI document in 20 ms. Level 11 takes over a second and saves at most a tenth more. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const shared = new WeakSet<Buffer>();

export const isShared = (payload: unknown): boolean => Buffer.isBuffer(payload) && shared.has(payload);

/** Prepares a body for any number of responses. Missing encodings are compressed off the event loop. */
export async function shareBody(
  identity: Buffer,
  given: { br?: Buffer | null; gzip?: Buffer | null } = {},
): Promise<SharedBody> {
  const isLarge = identity.length >= COMPRESSED_FROM;
  const [br, zipped] = await Promise.all([
    given.br ?? (isLarge ? promisify(brotliCompress)(identity, BROTLI) : null),
    given.gzip ?? (isLarge ? promisify(gzip)(identity) : null),
  ]);
  for (const form of [identity, br, zipped]) if (form) shared.add(form);
  const digest = createHash("sha256").update(identity).digest("base64url").slice(0, 22);
  // Weak: the same for every encoding.
  return { identity, br, gzip: zipped, etag: `W/"${digest}"` };
}

/** Content negotiation: sets the headers and returns the smallest encoding that the client accepts, or nothing with 304. */
export function negotiate({ headers }: FastifyRequest, reply: FastifyReply, body: SharedBody): Buffer | string {
  reply.header("etag", body.etag).header("vary", "accept-encoding");
  if (headers["if-none-match"] !== undefined && matchesEtag(headers["if-none-match"], body.etag)) {
    reply.code(304);
    return "";
  }
  for (const encoding of encodingsFor(headers["accept-encoding"])) {
    const encoded = body[encoding];
    if (!encoded) continue;
    reply.header("content-encoding", encoding);
    return encoded;
  }
  return body.identity;
}

/** The encodings that the client accepts, the smallest first. */
function encodingsFor(header: string | string[] | undefined): ("br" | "gzip")[] {
  const accepted = acceptedEncodings(header);
  return (["br", "gzip"] as const).filter(accepted);
}

/** The encoding for a body that is compressed for one response. */
export const preferredEncoding = (header: string | string[] | undefined): "br" | "gzip" | undefined =>
  encodingsFor(header)[0];

const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");

const matchesEtag = (header: string, etag: string): boolean =>
  header.trim() === "*" || header.split(",").some((tag) => opaque(tag) === opaque(etag));

/** An encoding is accepted if it is listed and its weight is not zero. */
function acceptedEncodings(header: string | string[] | undefined): (encoding: string) => boolean {
  const listed = [header ?? ""].flat().flatMap((value) => value.toLowerCase().split(","));
  const weights = new Map(
    listed.map((each) => {
      const [name = "", ...parameters] = each.split(";").map((part) => part.trim());
      return [name, parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1"] as const;
    }),
  );
  return (encoding) => Number(weights.get(encoding) ?? 0) > 0;
}
