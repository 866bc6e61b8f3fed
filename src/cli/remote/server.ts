import { BadSetting, type Config } from "../../config.ts";
import type { Fault } from "../../model/problem.ts";
import { findProfile, readProfiles } from "./profiles.ts";

/** Options of every command that talks to a server. */
export interface ServerOptions {
  profile?: string | undefined;
  url?: string | undefined;
  key?: string | undefined;
  json?: boolean | undefined;
}

/** The server is unavailable, perhaps for a moment. */
export class ServerUnavailable extends Error {
  override name = "ServerUnavailable";
}

const ANSWER_LIMIT_MS = 15_000;

/** A running server, asked with a key. */
export interface Server {
  url: string;
  key: string;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: object, headers?: Record<string, string>): Promise<T>;
  delete<T>(path: string): Promise<T>;
}

/**
 * The server that a command is about: that of `--url` and `--key`, of `--profile`, of the current profile, or the one
 * on this machine with the key of HELIOGRAPH_API_KEY.
 */
export function chooseServer(config: Config, options: ServerOptions, profiles: string): Server {
  const known = readProfiles(profiles);
  const name = options.profile ?? (options.url === undefined ? known.current : null);
  const profile = name === null ? null : findProfile(known.profiles, name);
  const url = readUrl("--url", options.url ?? profile?.url ?? `http://127.0.0.1:${config.port}`).replace(/\/+$/, "");
  // The key of a profile goes only to the address of that profile.
  const key = options.key ?? (options.url === undefined || options.url === profile?.url ? profile?.key : undefined);
  return connect(url, key ?? readOwnKey(config));
}

function readOwnKey({ apiKey }: Config): string {
  if (apiKey !== null) return apiKey;
  throw new BadSetting(
    "give an API key as --key or HELIOGRAPH_API_KEY, or keep one: profile add NAME --url URL --key KEY",
  );
}

export function connect(url: string, key: string): Server {
  const ask = <T>(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<T> =>
    askServer<T>(url + path, { method, headers: { ...headers, apikey: key }, body });
  return {
    url,
    key,
    get: (path) => ask("GET", path),
    post: (path, body, headers) => ask("POST", path, body, headers),
    delete: (path) => ask("DELETE", path),
  };
}

export function readUrl(option: string, written: string | undefined): string {
  const url = written === undefined ? null : URL.parse(written);
  if (written !== undefined && url && ["http:", "https:"].includes(url.protocol)) return written;
  throw new BadSetting(`${option} is a URL that begins with http:// or https://, like http://127.0.0.1:3000/hook`);
}

interface Refusal {
  message?: string;
  error?: { code: string; details: Fault[]; reference: string } | null;
}

async function askServer<T>(
  address: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body: object | undefined },
): Promise<T> {
  const asked = await fetch(address, {
    method,
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
    // The API never redirects; another host must not get the key.
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  }).catch((error: unknown) => {
    throw new ServerUnavailable(`no server answers at ${new URL(address).origin}`, { cause: error });
  });
  const answer = (await asked.json().catch(() => null)) as (T & Refusal) | null;
  if (asked.ok && answer !== null) return answer;
  const reason = answer?.message ?? `it answered ${asked.status}`;
  if (asked.status >= 500 || asked.status === 429) throw new ServerUnavailable(reason);
  const faults = (answer?.error?.details ?? []).map(({ parameter, message }) =>
    message.startsWith(parameter) ? `\n  ${message}` : `\n  ${parameter}: ${message}`,
  );
  const code = answer?.error ? ` (${answer.error.code})` : "";
  throw new BadSetting(`the server refuses: ${reason}${code}${faults.join("")}`);
}
