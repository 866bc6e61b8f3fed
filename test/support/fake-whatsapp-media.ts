import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FakeOptions, Fault } from "./fake-whatsapp.ts";

interface Held {
  type: string;
  bytes: Buffer;
}

const MEGABYTE = 1024 * 1024;
/** The platform's limits by type, from its page about media. */
const LIMITS: readonly [RegExp, number][] = [
  [/^image\/(jpeg|png)$/, 5 * MEGABYTE],
  [/^image\/webp$/, MEGABYTE / 2],
  [/^video\/(mp4|3gpp)$/, 16 * MEGABYTE],
  [/^audio\/(aac|amr|mpeg|mp4|ogg)$/, 16 * MEGABYTE],
  [/^(application\/(pdf|msword|vnd\..+)|text\/plain)$/, 100 * MEGABYTE],
];

/** The media part of the WhatsApp Cloud API: uploads of the business, and files of users behind two requests. */
export class FakeWhatsappMedia {
  /** By id; a test deletes one to let it expire. */
  readonly uploads = new Map<string, Held>();
  /** Files that users have sent, by id. */
  readonly sent = new Map<string, Held>();
  /** Reasons for which uploads were refused. */
  readonly refused: string[] = [];
  /** Requests for addresses and for bytes of users' files. */
  fetches = 0;
  /** Statuses of the next downloads of bytes, in the place of the file. */
  readonly failures: number[] = [];
  readonly #options: FakeOptions;

  constructor(options: FakeOptions) {
    this.#options = options;
  }

  /** False if the request is about something else. */
  answer(request: IncomingMessage, response: ServerResponse, body: Buffer, fault: Fault | undefined): boolean {
    const { prefix, phoneNumberIds } = this.#options;
    const path = request.url ?? "";
    const say = (status: number, value: object): true => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
      return true;
    };
    if (request.method === "POST" && phoneNumberIds.some((id) => path === `${prefix}/${id}/media`)) {
      if (fault?.kind === "status") return say(fault.status, {});
      const wrong = this.#take(request, body);
      if (wrong === null) return say(200, { id: [...this.uploads.keys()].at(-1) });
      this.refused.push(wrong);
      return say(400, { error: { code: 100, message: `(#100) ${wrong}`, type: "OAuthException" } });
    }
    const id = path.split("/").at(-1) ?? "";
    const found = this.sent.get(id);
    if (request.method !== "GET" || (!found && !id.startsWith("90"))) return false;
    this.fetches += 1;
    if (!found) return say(404, { error: { code: 100, message: "Unsupported get request" } });
    if (!path.startsWith("/lookaside/")) {
      const url = `http://${request.headers.host}/lookaside/${id}`;
      const sha256 = createHash("sha256").update(found.bytes).digest("hex");
      return say(200, {
        messaging_product: "whatsapp",
        url,
        mime_type: found.type,
        sha256,
        file_size: found.bytes.length,
        id,
      });
    }
    const failure = this.failures.shift();
    if (failure !== undefined) return say(failure, {});
    response.writeHead(200, { "content-type": found.type }).end(found.bytes);
    return true;
  }

  #take({ headers }: IncomingMessage, body: Buffer): string | null {
    const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1];
    if (boundary === undefined) return "the body is no form";
    const parts = new Map<string, { type: string; content: Buffer }>();
    for (const part of body.toString("latin1").split(`--${boundary}`).slice(1, -1)) {
      const [head = "", ...rest] = part.split("\r\n\r\n");
      const name = /name="(\w+)"/.exec(head)?.[1] ?? "";
      const type = /content-type: (.+)/i.exec(head)?.[1]?.trim() ?? "";
      parts.set(name, { type, content: Buffer.from(rest.join("\r\n\r\n").slice(0, -2), "latin1") });
    }
    if (parts.get("messaging_product")?.content.toString() !== "whatsapp") return "messaging_product is not whatsapp";
    const file = parts.get("file");
    if (!file) return "there is no file";
    const limit = LIMITS.find(([type]) => type.test(file.type))?.[1];
    if (limit === undefined) return `the type ${file.type} is not supported`;
    if (file.content.length > limit) return "the file is too large";
    this.uploads.set(String(1_166_846_181_421_424 + this.uploads.size), { type: file.type, bytes: file.content });
    return null;
  }

  /** Faults of a message that names an upload which the platform does not have. */
  unknownIdsIn(text: string): string[] {
    const named = [...text.matchAll(/"(?:image|video|document|audio|sticker)":\{"id":"(\d+)"/g)].map(
      ([, id = ""]) => id,
    );
    return named.filter((id) => !this.uploads.has(id)).map((id) => `the media ${id} is not known`);
  }
}
