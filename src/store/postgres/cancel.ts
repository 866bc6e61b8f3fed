import { Connection, type ConnectionConfig, type PoolClient } from "pg";

const CONNECT_WITHIN_MS = 2000;

/** Fields that the driver's client has at run time but its types omit. */
interface Line {
  host: string;
  port: number;
  ssl: ConnectionConfig["ssl"] | false;
  processID: number | null;
  secretKey: number | null;
}

interface RawConnection extends Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * Cancels the statement that runs on a connection. The protocol's CancelRequest goes over a separate connection and needs no
 * session, so it works while every session hangs; a pooler forwards it. Resolves when the server has received the request, or
 * when that fails.
 *
 * A commit that waits for a synchronous standby ends by this too. It is then committed on the primary and visible to every
 * session.
 */
export async function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client as unknown as Line;
  if (processID === null || secretKey === null) return;
  const line = new Connection({ ssl: ssl || undefined }) as RawConnection;
  const ended = new Promise<void>((resolve) => {
    line.on("end", resolve);
    line.on("error", () => line.stream.destroy());
  });
  const timer = setTimeout(() => line.stream.destroy(), CONNECT_WITHIN_MS).unref();
  const cancel = (): void => line.cancel(processID, secretKey);
  line.on("connect", () => (ssl ? line.requestSsl() : cancel()));
  line.on("sslconnect", cancel);
  if (host.startsWith("/")) line.connect(`${host}/.s.PGSQL.${port}`);
  else line.connect(port, host);
  await ended;
  clearTimeout(timer);
}
