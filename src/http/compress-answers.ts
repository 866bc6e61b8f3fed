import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { callerOf } from "./auth/request-caller.ts";
import { preferredEncoding } from "./shared-body.ts";

/** A page of 50 messages has 40 KB. Smaller answers save less than they cost. */
const COMPRESSED_FROM = 4096;
/** Level 4 takes half a millisecond for 40 KB and leaves 2 KB. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const ENCODERS = {
  br: (text: string) => promisify(brotliCompress)(text, BROTLI),
  gzip: (text: string) => promisify(gzip)(text),
};

/**
 * Compresses the lists that the dashboard reads, off the event loop. Programs usually run near the server, where compression
 * only takes time. A top-level navigation is the one request of another site that carries the session cookie. It asks for HTML
 * and gets no compressed answer, so that the site cannot guess contents by their compressed size (BREACH).
 */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const { headers, method } = request;
    if (typeof payload !== "string" || payload.length < COMPRESSED_FROM) return payload;
    if (method !== "GET" || headers.accept !== "application/json") return payload;
    if (callerOf(request)?.actor.kind !== "user" || reply.hasHeader("content-encoding")) return payload;
    reply.header("vary", "accept-encoding");
    const encoding = preferredEncoding(headers["accept-encoding"]);
    if (!encoding) return payload;
    const encoded = await ENCODERS[encoding](payload);
    reply.header("content-encoding", encoding).removeHeader("content-length");
    return encoded;
  });
}
