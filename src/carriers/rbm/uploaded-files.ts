import type { Clock } from "../../lib/clock.ts";
import type { RcsCard } from "../../model/rcs.ts";
import type { HttpExchange } from "../http-exchange.ts";
import type { Closed } from "./access-token.ts";
import { bodyOf } from "./parse-response.ts";

type Image = Pick<RcsCard, "fileUrl" | "thumbnailUrl">;

interface UploadedFilesDeps {
  clock: Clock;
  upload(agentId: string, file: { fileUrl: string; thumbnailUrl?: string }): Promise<HttpExchange | Closed>;
}

const DAY_MS = 86_400_000;
/** The platform keeps a file for 60 days. */
export const FILE_LIFE_MS = 50 * DAY_MS;
/** After a failure the URL is sent instead, for this time. */
const RETRY_AFTER_MS = 300_000;
const FILES_MAX = 1000;

/**
 * Names of files that the platform has fetched once and serves itself, by agent and URL. A file that could not be uploaded has
 * none, and its URL is sent. Concurrent messages share one upload.
 */
export class UploadedFiles {
  readonly #deps: UploadedFilesDeps;
  readonly #names = new Map<string, { name: Promise<string | null>; until: number }>();

  constructor(deps: UploadedFilesDeps) {
    this.#deps = deps;
  }

  async nameOf(agentId: string, { fileUrl, thumbnailUrl }: Image): Promise<string | null> {
    if (fileUrl === null) return null;
    const key = `${agentId} ${fileUrl} ${thumbnailUrl ?? ""}`;
    const { clock } = this.#deps;
    const known = this.#names.get(key);
    if (known && clock.monotonic() < known.until) return known.name;
    const entry = { name: this.upload(agentId, { fileUrl, ...(thumbnailUrl && { thumbnailUrl }) }), until: Infinity };
    this.#names.delete(key);
    this.#names.set(key, entry);
    const [oldest] = this.#names.keys();
    if (this.#names.size > FILES_MAX && oldest !== undefined) this.#names.delete(oldest);
    const name = await entry.name;
    entry.until = clock.monotonic() + (name === null ? RETRY_AFTER_MS : FILE_LIFE_MS);
    return name;
  }

  /** Lets the platform fetch a file now. Null if it does not. */
  async upload(agentId: string, { fileUrl, thumbnailUrl }: Partial<Image>): Promise<string | null> {
    const answer = await this.#deps.upload(agentId, { fileUrl: fileUrl ?? "", ...(thumbnailUrl && { thumbnailUrl }) });
    const name = answer.kind === "answered" && answer.status === 200 ? bodyOf(answer)?.name : null;
    return typeof name === "string" && /^files\/[\w.-]{1,200}$/.test(name) ? name : null;
  }
}
