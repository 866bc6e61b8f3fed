import { connect, constants, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { request, type Agent } from "node:https";

export interface SecureAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface SecureRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** A request over HTTP/1.1 and TLS. */
export const requestOverHttp1 = (
  url: string,
  { method = "GET", path, headers = {}, body }: SecureRequest,
  { ca, agent }: { ca: string; agent?: Agent },
): Promise<SecureAnswer> =>
  new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers, ca, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sent.on("error", reject).end(body);
  });

/** A connection of HTTP/2, and requests over it. */
export class Http2Client {
  readonly session: ClientHttp2Session;

  constructor(url: string, ca: string) {
    this.session = connect(url, { ca });
    this.session.on("error", () => {});
  }

  request({ method = "GET", path, headers = {}, body }: SecureRequest): Promise<SecureAnswer> {
    return new Promise((resolve, reject) => {
      const stream = this.session.request(
        { ...headers, ":method": method, ":path": path },
        { endStream: body === undefined },
      );
      let answer: IncomingHttpHeaders = {};
      const chunks: Buffer[] = [];
      stream.on("response", (received) => {
        answer = received;
      });
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () =>
        resolve({ status: Number(answer[":status"]), headers: answer, text: Buffer.concat(chunks).toString("utf8") }),
      );
      stream.on("error", reject);
      stream.on("close", () => {
        if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) reject(new Error(`stream closed with ${stream.rstCode}`));
      });
      if (body !== undefined) stream.end(body);
    });
  }

  close(): void {
    this.session.destroy();
  }
}
