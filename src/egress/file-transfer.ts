import { request as requestPlain, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../lib/clock.ts";
import type { EgressRules } from "./addresses.ts";
import { EgressRefused, guardedLookup } from "./guarded-connect.ts";
import { createResolve } from "./resolve.ts";

/** Sends and fetches files as streams, guarded against SSRF. Redirects are not followed: their target is an answer like any other. */
export interface FileTransfer {
  /** Rejects if no whole answer comes in time. Of the answer, the first 64 KB are read. */
  post(
    url: string,
    file: { headers: Readonly<Record<string, string>>; body: Readable; bytes: number; limitMs: number },
  ): Promise<{ status: number; text: string }>;
  /** The limit covers the body, which the caller reads. */
  get(
    url: string,
    options: { headers: Readonly<Record<string, string>>; limitMs: number },
  ): Promise<{ status: number; body: IncomingMessage }>;
}

const TEXT_MAX_BYTES = 65_536;

export function createFileTransfer({ rules, clock }: { rules: EgressRules; clock: Clock }): FileTransfer {
  const lookup = guardedLookup(rules, clock, createResolve());

  /** A connection of its own, so that the guard sees each address. */
  function begin(url: string, method: "GET" | "POST", headers: Readonly<Record<string, string>>, limitMs: number) {
    const target = new URL(url);
    const { protocol, hostname } = target;
    if (protocol !== "https:" && protocol !== "http:") throw new Error(`${protocol} is not spoken here`);
    const literal = hostname.replace(/^\[|\]$/g, "");
    if (isIP(literal) !== 0 && !rules.isOpen(literal)) throw new EgressRefused(literal);
    const open = protocol === "https:" ? requestSecure : requestPlain;
    const request = open(target, { method, headers, lookup, agent: false });
    const cancel = clock.after(limitMs, () =>
      request.destroy(new Error(`there was no whole answer within ${limitMs / 1000} s`)),
    );
    request.once("close", cancel);
    return request;
  }

  return {
    async post(url, { headers, body, bytes, limitMs }) {
      const request = begin(url, "POST", { ...headers, "content-length": String(bytes) }, limitMs);
      const answered = responseTo(request);
      // A platform may refuse before it has read everything: its answer counts, and not the broken pipe.
      const [answer, written] = await Promise.allSettled([answered, pipeline(body, request)]);
      if (answer.status === "rejected") throw written.status === "rejected" ? written.reason : answer.reason;
      return { status: answer.value.statusCode ?? 0, text: await textOf(answer.value) };
    },

    async get(url, { headers, limitMs }) {
      const request = begin(url, "GET", { ...headers, "accept-encoding": "identity" }, limitMs);
      request.end();
      const body = await responseTo(request);
      return { status: body.statusCode ?? 0, body };
    },
  };
}

const responseTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.once("response", resolve).on("error", reject);
  });

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes > TEXT_MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
