import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { faultOfSignature, type S3Credentials } from "./signature-v4.ts";

interface Upload {
  key: string;
  initiated: Date;
  parts: Map<number, Buffer>;
}

/** The treatment of a request instead of an ordinary response. */
type Fault = { status: number; code: string } | "cut" | "answer-lost" | "late-error";

interface Options {
  credentials?: S3Credentials;
  region?: string;
  /** Keys on one page of a list. */
  pageSize?: number;
  partMinBytes?: number;
}

export const S3_CREDENTIALS: S3Credentials = {
  accessKeyId: "AKIDTEST",
  secretAccessKey: "the+secret/of=this&test",
};

const STATUS: Record<string, number> = {
  NoSuchKey: 404,
  NoSuchBucket: 404,
  NoSuchUpload: 404,
  EntityTooSmall: 400,
  InvalidPart: 400,
  XAmzContentSHA256Mismatch: 400,
  AuthorizationHeaderMalformed: 400,
};

export type S3Server = Awaited<ReturnType<typeof startS3Server>>;

/** An object storage in memory with one bucket, `backups`, that checks every signature as Amazon S3 does. */
export async function startS3Server(options: Options = {}) {
  const {
    credentials = S3_CREDENTIALS,
    region = "us-east-1",
    pageSize = 1000,
    partMinBytes = 5 * 1024 * 1024,
  } = options;
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Upload>();
  const requests: string[] = [];
  /** Consulted before each request. */
  const faults: { on: RegExp; fault: Fault; times: number }[] = [];
  let partBytesMax = 0;

  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const line = `${request.method} ${request.url}`;
    requests.push(line);
    const fault = faults.find(({ on, times }) => times > 0 && on.test(line));
    if (fault) fault.times -= 1;
    const instead = fault?.fault;
    if (instead === "cut") return void request.socket.destroy();
    if (typeof instead === "object") return refuse(response, instead.code, instead.status);
    if (instead === "late-error") return xml(response, errorOf("InternalError"));
    const wrong = faultOfSignature(request, body, { region, credentials });
    if (wrong !== null) return refuse(response, wrong);
    if (instead === "answer-lost") {
      response.end = () => request.socket.destroy() as unknown as ServerResponse;
    }
    handle(request, body, response);
  }

  function handle({ method, url = "" }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { pathname, searchParams: query } = new URL(url, "http://storage");
    const [, bucket, ...rest] = pathname.split("/").map(decodeURIComponent);
    const key = rest.join("/");
    if (bucket !== "backups") return refuse(response, "NoSuchBucket");
    if (query.has("uploads")) return method === "POST" ? startUpload(key, response) : listUploads(query, response);
    const uploadId = query.get("uploadId");
    if (uploadId !== null) return handleUpload(method, uploadId, query, body, response);
    if (key === "")
      return query.has("location") ? xml(response, "<LocationConstraint/>") : listObjects(query, response);
    const object = objects.get(key);
    if (method === "PUT") {
      objects.set(key, body);
      return void response.setHeader("etag", `"${etagOf(body)}"`).end();
    }
    if (method === "DELETE") {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (!object) return refuse(response, "NoSuchKey");
    response.writeHead(200, {
      "content-length": object.length,
      "last-modified": new Date().toUTCString(),
      etag: `"${etagOf(object)}"`,
    });
    response.end(method === "HEAD" ? undefined : object);
  }

  function startUpload(key: string, response: ServerResponse): void {
    const id = `upload+${uploads.size}/=`;
    uploads.set(id, { key, initiated: new Date(), parts: new Map() });
    xml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  function handleUpload(
    method: string | undefined,
    id: string,
    query: URLSearchParams,
    body: Buffer,
    response: ServerResponse,
  ): void {
    const upload = uploads.get(id);
    if (!upload) return refuse(response, "NoSuchUpload");
    if (method === "PUT") {
      partBytesMax = Math.max(partBytesMax, body.length);
      upload.parts.set(Number(query.get("partNumber")), body);
      return void response.setHeader("etag", `"${etagOf(body)}"`).end();
    }
    if (method === "POST") {
      const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
      const parts = named.map(([, number, etag]) => {
        const part = upload.parts.get(Number(number));
        return part && etag?.includes(etagOf(part)) ? part : undefined;
      });
      const whole = parts.filter((part) => part !== undefined);
      if (whole.length === 0 || whole.length < parts.length) return refuse(response, "InvalidPart");
      if (whole.slice(0, -1).some((part) => part.length < partMinBytes)) return refuse(response, "EntityTooSmall");
      objects.set(upload.key, Buffer.concat(whole));
      uploads.delete(id);
      return xml(response, "<CompleteMultipartUploadResult/>");
    }
    uploads.delete(id);
    response.writeHead(204).end();
  }

  function listObjects(query: URLSearchParams, response: ServerResponse): void {
    const after = query.get("continuation-token") ?? query.get("marker") ?? "";
    const prefix = query.get("prefix") ?? "";
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
    const page = keys.slice(0, pageSize);
    const isTruncated = keys.length > page.length;
    const contents = page.map(
      (key) =>
        `<Contents><Key>${key.replaceAll("&", "&amp;")}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;${etagOf(objects.get(key) ?? Buffer.alloc(0))}&quot;</ETag><Size>${objects.get(key)?.length}</Size></Contents>`,
    );
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
    xml(
      response,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>backups</Name><IsTruncated>${isTruncated}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`,
    );
  }

  function listUploads(query: URLSearchParams, response: ServerResponse): void {
    const ids = [...uploads.keys()].filter((id) => id > (query.get("upload-id-marker") ?? ""));
    const page = ids.toSorted().slice(0, pageSize);
    const written = page.map((id) => {
      const { key = "", initiated = new Date() } = uploads.get(id) ?? {};
      return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`;
    });
    const isTruncated = ids.length > page.length;
    const next = isTruncated
      ? `<NextKeyMarker>${uploads.get(page.at(-1) ?? "")?.key}</NextKeyMarker><NextUploadIdMarker>${page.at(-1)}</NextUploadIdMarker>`
      : "";
    xml(
      response,
      `<ListMultipartUploadsResult><IsTruncated>${isTruncated}</IsTruncated>${next}${written.join("")}</ListMultipartUploadsResult>`,
    );
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    objects,
    uploads,
    /** Methods and URLs of all requests. */
    requests,
    faults,
    /** Bytes of the largest part so far. */
    largestPart: () => partBytesMax,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const etagOf = (content: Buffer): string => createHash("md5").update(content).digest("hex");

/** A refusal repeats the access key, as Amazon's does. */
const errorOf = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Refused &amp; explained: ${code}</Message><AWSAccessKeyId>${S3_CREDENTIALS.accessKeyId}</AWSAccessKeyId></Error>`;

const refuse = (response: ServerResponse, code: string, status = STATUS[code] ?? 403): void =>
  void response.writeHead(status, { "content-type": "application/xml" }).end(errorOf(code));

const xml = (response: ServerResponse, content: string): void =>
  void response.writeHead(200, { "content-type": "application/xml" }).end(content);
