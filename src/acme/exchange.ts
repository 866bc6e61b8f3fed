import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";

export interface AcmeResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface Exchange {
  method: "GET" | "HEAD" | "POST";
  url: string;
  body?: string;
  /** CA certificates in PEM; null for those of the system. */
  ca: string | null;
  signal: AbortSignal;
}

const TIMEOUT_MS = 30_000;
/** A chain of certificates has some kilobytes. */
const REPLY_BYTES_MAX = 1_048_576;

/** One request to the ACME server. Its URLs are the operator's, so the egress guard for URLs of users does not apply. */
export function exchange({ method, url, body, ca, signal }: Exchange): Promise<AcmeResponse> {
  if (!url.startsWith("https:")) return Promise.reject(new Error(`${url} does not begin with https:`));
  return new Promise((resolve, reject) => {
    const headers = {
      "user-agent": "heliograph",
      ...(body === undefined
        ? {}
        : { "content-type": "application/jose+json", "content-length": Buffer.byteLength(body) }),
    };
    const sent = request(
      url,
      { method, headers, signal, timeout: TIMEOUT_MS, agent: false, ...(ca === null ? {} : { ca }) },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > REPLY_BYTES_MAX) response.destroy(new Error(`${url} answered with more than a megabyte`));
          else chunks.push(chunk);
        });
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`${url} did not answer within ${TIMEOUT_MS / 1000} seconds`)));
    sent.on("error", reject);
    sent.end(body);
  });
}
