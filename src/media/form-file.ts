/** The file of a form body. */
export interface FormFile {
  /** As the client declares it; empty if it does not. */
  type: string;
  name: string | null;
  body: AsyncIterable<Buffer>;
}

/** The body is no form with a file. The message says what is wrong, for the client. */
export class BadForm extends Error {
  override name = "BadForm";
}

const HEADERS_MAX = 8192;
const FIELD_MAX = 65_536;
const FIELDS_MAX = 20;

/** The boundary of a multipart/form-data body; null for other content types. */
export function boundaryOf(contentType: string): string | null {
  if (!/^multipart\/form-data\s*;/i.test(contentType)) return null;
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

/**
 * Finds the first file of a form (RFC 7578) and streams it. Memory holds one chunk. Fields before it are skipped, and what follows it is
 * ignored.
 */
export async function readFormFile(source: AsyncIterable<Buffer>, boundary: string): Promise<FormFile> {
  const reader = new PartReader(source, boundary);
  for (let field = 0; field < FIELDS_MAX; field += 1) {
    const headers = await reader.nextHeaders();
    if (headers === null) throw new BadForm("The form has no file: add a field with a file.");
    const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? "";
    const name = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1];
    if (name === undefined) continue;
    const type = /^content-type:(.*)$/im.exec(headers)?.[1]?.trim() ?? "";
    return { type, name: Buffer.from(name, "latin1").toString("utf8"), body: reader.body() };
  }
  throw new BadForm(`The form has more than ${FIELDS_MAX} fields before its file.`);
}

class PartReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #delimiter: Buffer;
  /** Begins with a line break, so that the first boundary is found like all others. */
  #rest: Buffer = Buffer.from("\r\n");

  constructor(source: AsyncIterable<Buffer>, boundary: string) {
    this.#chunks = source[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  }

  /** Headers of the next part; null at the end of the form. */
  async nextHeaders(): Promise<string | null> {
    await this.#skip();
    while (this.#rest.length < 2) await this.#fill();
    if (this.#rest.toString("latin1", 0, 2) === "--") return null;
    for (;;) {
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end >= 0) {
        const headers = this.#rest.toString("latin1", 0, end);
        this.#rest = this.#rest.subarray(end + 4);
        return headers;
      }
      if (this.#rest.length > HEADERS_MAX) throw new BadForm("A part of the form has no end of its headers.");
      await this.#fill();
    }
  }

  /** Skips a preamble or a field. */
  async #skip(): Promise<void> {
    let skipped = 0;
    for await (const chunk of this.body()) {
      skipped += chunk.length;
      if (skipped > FIELD_MAX)
        throw new BadForm("The form has no boundary where it should begin, or a long text field.");
    }
  }

  /** Content of the part up to its boundary, which is consumed. */
  async *body(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#rest.indexOf(this.#delimiter);
      if (at >= 0) {
        const last = this.#rest.subarray(0, at);
        this.#rest = this.#rest.subarray(at + this.#delimiter.length);
        if (last.length > 0) yield last;
        return;
      }
      // The boundary may begin in the last bytes.
      const sure = this.#rest.length - this.#delimiter.length + 1;
      if (sure > 0) {
        const chunk = this.#rest.subarray(0, sure);
        this.#rest = this.#rest.subarray(sure);
        yield chunk;
      }
      await this.#fill();
    }
  }

  async #fill(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done) throw new BadForm("The form ends before its last boundary.");
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
  }
}
