/** A database URL that cannot be used. The message says what to write instead, and contains nothing of the URL. */
export class BadDatabaseUrl extends Error {
  override name = "BadDatabaseUrl";
}

const PARTS = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(?:\?([^#]*))?$/;
const HOST_AND_PORT = /^(\[[\da-fA-F:.]+\]|[^:[\]\s]+)?(?::(\d{1,5}))?$/;
const PORT_MAX = 65_535;
const HOSTS_MAX = 20;

/** Every statement may write, so a session must be read-write. libpq's `any` would accept a standby. */
const WRITABLE = new Set(["read-write", "primary"]);

/**
 * Splits a libpq connection URL with several hosts (`postgres://user@a:5432,b:5432/db`) into one URL for each host, in order. The
 * driver itself takes one host. Parameters that it would ignore, although the choice of a server depends on them, are refused.
 */
export function readDatabaseUrl(written: string): string[] {
  const [, scheme, user, hosts = "", path = "", query] = PARTS.exec(written) ?? [];
  if (scheme === undefined) throw new BadDatabaseUrl("it must be a postgres:// or postgresql:// URL");
  const parameters = new URLSearchParams(query);
  checkParameters(parameters);
  // Removed as text: the other parameters keep the spelling that the driver decodes.
  const kept = (query ?? "")
    .split("&")
    .filter((part) => part !== "" && !/^(target_session_attrs|load_balance_hosts)=/.test(part));
  const rest = path + (kept.length > 0 ? `?${kept.join("&")}` : "");
  const names = hosts.split(",");
  if (names.length > HOSTS_MAX) throw new BadDatabaseUrl(`it must have at most ${HOSTS_MAX} hosts`);
  if (names.length > 1) for (const name of names) checkListed(name);
  if (names.length > 1 && parameters.has("host"))
    throw new BadDatabaseUrl("it must not have both a list of hosts and the parameter host");
  const urls = names.map((name) => `${scheme}${user === undefined ? "" : `${user}@`}${name}${rest}`);
  // The driver also accepts a URL without a host, such as postgres:///heliograph?host=/var/run/postgresql.
  if (!urls.every((url) => URL.canParse(url)))
    throw new BadDatabaseUrl("it must be a postgres:// or postgresql:// URL");
  return urls;
}

function checkParameters(parameters: URLSearchParams): void {
  for (const value of parameters.getAll("target_session_attrs"))
    if (!WRITABLE.has(value))
      throw new BadDatabaseUrl(
        "target_session_attrs must be read-write (or primary), because Heliograph writes to every session",
      );
  if (parameters.has("load_balance_hosts") && parameters.get("load_balance_hosts") !== "disable")
    throw new BadDatabaseUrl("load_balance_hosts must be disable: hosts are tried in the order of the list");
  if (parameters.has("hostaddr")) throw new BadDatabaseUrl("hostaddr is not supported: write the address as the host");
  for (const name of ["host", "port"])
    if (parameters.get(name)?.includes(","))
      throw new BadDatabaseUrl(
        `the parameter ${name} must be single: write several hosts as host:port,host:port before the database`,
      );
}

function checkListed(name: string): void {
  const [, host, port] = HOST_AND_PORT.exec(name) ?? [];
  if (name.startsWith("%2F") || name.startsWith("%2f"))
    throw new BadDatabaseUrl("a list of hosts must not contain a socket directory");
  if (host === undefined || Number(port ?? 1) > PORT_MAX || Number(port ?? 1) === 0)
    throw new BadDatabaseUrl(
      "every host of the list must be a name or address with an optional port, such as db1:5432,db2:5432",
    );
}
