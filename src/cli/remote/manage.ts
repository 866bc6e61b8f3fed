import { BadSetting, type Config } from "../../config.ts";
import { countOf } from "../../lib/text.ts";
import { SCOPES } from "../../model/api-key.ts";
import { NotConfirmed } from "../not-confirmed.ts";
import type { Terminal } from "../terminal.ts";
import { chooseProfile, readProfiles, removeProfile, saveProfile } from "./profiles.ts";
import { chooseServer, connect, readUrl, type Server, type ServerOptions } from "./server.ts";
import { table } from "./table.ts";

interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

async function allOf<T>(server: Server, path: string): Promise<T[]> {
  const rows: T[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Page<T> = await server.get(cursor === "" ? path : `${path}?cursor=${encodeURIComponent(cursor)}`);
    rows.push(...page.data);
    cursor = page.nextCursor;
  }
  return rows;
}

const shown = (rows: object[], json: boolean | undefined, text: string): string =>
  json ? JSON.stringify(rows, null, 2) : text;

const dateOf = (ms: number | null): string => (ms === null ? "-" : new Date(ms).toISOString().slice(0, 16));

/** `profile add NAME`: keeps a server and its key, after it has answered. */
export async function addProfile(
  config: Config,
  [name = ""]: readonly string[],
  { url, key }: ServerOptions,
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  const address = readUrl("--url", url ?? `http://127.0.0.1:${config.port}`).replace(/\/+$/, "");
  const given = key ?? (await terminal.askSecret("API key:"));
  if (given === "") throw new BadSetting("give an API key as --key");
  // Every key may read the messages page or is refused for its scope, which also proves that it is known.
  await connect(address, given)
    .get("/v1/messages?limit=1")
    .catch((error: unknown) => {
      if (!(error instanceof BadSetting) || !error.message.includes("INSUFFICIENT_SCOPE")) throw error;
    });
  saveProfile(profiles, name, { url: address, key: given });
  return `Commands now talk to ${address} as ${name}.`;
}

/** `profile use NAME` */
export async function useProfile(
  _config: Config,
  [name = ""]: readonly string[],
  _options: object,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  chooseProfile(profiles, name);
  return `Commands now talk to ${readProfiles(profiles).profiles[name]?.url} as ${name}.`;
}

/** `profile remove NAME` */
export async function forgetProfile(
  _config: Config,
  [name = ""]: readonly string[],
  _options: object,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  removeProfile(profiles, name);
  return `${name} is removed.`;
}

/** `profile list`, without the keys. */
export async function listProfiles(
  _config: Config,
  _words: readonly string[],
  { json }: ServerOptions,
  _terminal: Terminal,
  file: string,
): Promise<string> {
  const { current, profiles } = readProfiles(file);
  const rows = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
  const lines = rows.map((row) => [row.current ? "*" : "", row.name, row.url]);
  return shown(rows, json, rows.length === 0 ? "There is no profile." : table(["", "NAME", "URL"], lines));
}

interface Key {
  id: string;
  name: string;
  mode: string;
  hint: string;
  scopes: string[];
  revokedAt: number | null;
  lastUsedAt: number | null;
}

/** `keys list` */
export async function listKeys(
  config: Config,
  _words: readonly string[],
  options: ServerOptions,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  const keys = await allOf<Key>(chooseServer(config, options, profiles), "/api/keys");
  const lines = keys.map((key) => [
    key.id,
    key.name,
    `hg_${key.mode}_…${key.hint}`,
    key.scopes.join(","),
    key.revokedAt === null ? dateOf(key.lastUsedAt) : "revoked",
  ]);
  return shown(keys, options.json, table(["ID", "NAME", "KEY", "SCOPES", "LAST USED"], lines));
}

/** `keys add NAME` */
export async function addKey(
  config: Config,
  [name = ""]: readonly string[],
  options: ServerOptions & { scopes?: string | undefined; mode?: string | undefined },
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  if (options.scopes === undefined)
    throw new BadSetting(`--scopes is a list of ${SCOPES.join(", ")} with commas between them`);
  const server = chooseServer(config, options, profiles);
  const made = await server.post<{ key: string }>("/api/keys", {
    name,
    mode: options.mode ?? "live",
    scopes: options.scopes.split(",").map((scope) => scope.trim()),
  });
  return options.json ? JSON.stringify(made, null, 2) : `This is shown once; keep it.\n\n${made.key}`;
}

/** `keys revoke ID` */
export async function revokeKey(
  config: Config,
  [id = ""]: readonly string[],
  options: ServerOptions & { yes?: boolean | undefined },
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const key = (await allOf<Key>(server, "/api/keys")).find((one) => one.id === id);
  if (!key) throw new BadSetting(`there is no key ${id}: keys list shows them`);
  const isMeant = options.yes === true || (await terminal.confirm(`Revoke ${key.name}? Its requests fail at once.`));
  if (!isMeant) throw new NotConfirmed(terminal.canAsk ? "nothing was changed" : "nothing was changed: give --yes");
  const revoked = await server.delete<Key>(`/api/keys/${encodeURIComponent(id)}`);
  return options.json ? JSON.stringify(revoked, null, 2) : `${key.name} is revoked.`;
}

interface Carrier {
  id: string;
  name: string;
  adapter: string;
}

interface CarrierState {
  up: boolean;
  binds: { reason: string | null }[];
}

const SIMULATOR = "simulator";
const ALWAYS_UP: CarrierState = { up: true, binds: [] };

const wordsFor = ({ up, binds }: CarrierState): string =>
  up ? "up" : ["down", binds.find(({ reason }) => reason !== null)?.reason].filter((word) => word).join(": ");

/** `carriers list`, with the health of each connection. */
export async function listCarriers(
  config: Config,
  _words: readonly string[],
  options: ServerOptions,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const carriers = await allOf<Carrier>(server, "/api/carriers");
  const states = await Promise.all(
    carriers.map(async ({ id, adapter }) =>
      adapter === SIMULATOR ? ALWAYS_UP : server.get<CarrierState>(`/api/carriers/${id}/state`),
    ),
  );
  const rows = carriers.map((carrier, index) => ({ ...carrier, state: states[index] }));
  const lines = rows.map(({ name, adapter, state }) => [name, adapter, state ? wordsFor(state) : ""]);
  return shown(rows, options.json, table(["NAME", "ADAPTER", "STATE"], lines));
}

interface Trial {
  outcome: string;
  description: string;
  ms: number;
}

/** `carriers test NAME`: connects as the carrier's record says. Exit code 1 if that fails. */
export async function testCarrier(
  config: Config,
  [name = ""]: readonly string[],
  options: ServerOptions,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const carriers = await allOf<Carrier>(server, "/api/carriers");
  const carrier = carriers.find((one) => one.name === name);
  if (!carrier) {
    const names = carriers.map((one) => one.name).join(", ");
    throw new BadSetting(`there is no carrier ${name}: ${countOf(carriers.length, "carrier")}: ${names}`);
  }
  if (carrier.adapter === SIMULATOR) throw new BadSetting(`${name} is the simulator: it has no connection to test`);
  const trial = await server.post<Trial>(`/api/carriers/${carrier.id}/test`, {});
  if (trial.outcome !== "bound") process.exitCode = 1;
  return options.json ? JSON.stringify(trial, null, 2) : `${trial.outcome} in ${trial.ms} ms: ${trial.description}`;
}
