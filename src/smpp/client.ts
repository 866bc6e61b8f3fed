import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure, type ConnectionOptions } from "node:tls";
import { NO_ADDRESS, type Address, type Bind, type BindCommand } from "./pdu.ts";
import { Session, type SessionOptions } from "./session.ts";
import { realClock } from "./session-clock.ts";
import { findTlv, NO_TLVS, type Tlv } from "./tlv.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const SMPP_3_4 = 0x34;

/** Certificates are verified unless `rejectUnauthorized` is false. */
type TlsOptions = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "passphrase" | "servername" | "rejectUnauthorized" | "minVersion"
>;

export interface BindOptions extends SessionOptions {
  host: string;
  port: number;
  /** Plain TCP if absent. */
  tls?: TlsOptions;
  /** Default: bind_transceiver. */
  as?: BindCommand;
  systemId: string;
  password: string;
  systemType?: string;
  interfaceVersion?: number;
  addressRange?: Address;
  tlvs?: readonly Tlv[];
  connectTimeoutMs?: number;
  /** Aborts the attempt; the result is then `unreachable`. */
  signal?: AbortSignal;
}

/** Result of a bind attempt. None of these is an error. */
export type BindResult =
  | {
      readonly kind: "bound";
      readonly session: Session;
      /** system_id of the SMSC. */
      readonly systemId: string;
      /** sc_interface_version; null if absent. */
      readonly interfaceVersion: number | null;
    }
  /** bind_resp with a non-zero status. */
  | { readonly kind: "refused"; readonly status: number }
  /** Connection, TLS handshake or bind response failed. */
  | { readonly kind: "unreachable"; readonly reason: string };

/** Connects and binds. Rejects only for options that cannot be encoded, for example a system_id that is too long. */
export async function bind(options: BindOptions): Promise<BindResult> {
  const connected = await connect(options);
  if (typeof connected === "string") return { kind: "unreachable", reason: connected };
  const session = new Session(connected, options);
  const abortBind = (): void => session.destroy();
  options.signal?.addEventListener("abort", abortBind);
  try {
    return await sendBind(session, options);
  } catch (error) {
    session.destroy();
    throw error;
  } finally {
    options.signal?.removeEventListener("abort", abortBind);
  }
}

async function sendBind(session: Session, options: BindOptions): Promise<BindResult> {
  const outcome = await session.request(bindOf(options));
  if (outcome.kind === "answer" && outcome.pdu.status === 0 && outcome.pdu.command !== "generic_nack") {
    const { systemId, tlvs } = outcome.pdu;
    return { kind: "bound", session, systemId, interfaceVersion: findTlv(tlvs, "sc_interface_version") ?? null };
  }
  session.destroy();
  if (outcome.kind === "answer") return { kind: "refused", status: outcome.pdu.status };
  if (outcome.kind === "timeout") return { kind: "unreachable", reason: "the bind was not answered in time" };
  const end = await session.closed;
  return {
    kind: "unreachable",
    reason: end.reason === "failed" ? textOf(end.error) : `the connection was ${end.reason}`,
  };
}

const bindOf = (options: BindOptions): Bind => ({
  command: options.as ?? "bind_transceiver",
  systemId: options.systemId,
  password: options.password,
  systemType: options.systemType ?? "",
  interfaceVersion: options.interfaceVersion ?? SMPP_3_4,
  addressRange: options.addressRange ?? NO_ADDRESS,
  tlvs: options.tlvs ?? NO_TLVS,
});

/** A connected socket, or the reason for the failure. */
function connect({ host, port, tls, clock = realClock, ...options }: BindOptions): Promise<Socket | string> {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, signal } = options;
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve("it was called off");
    const target = { host, port, noDelay: true, keepAlive: true };
    const socket = tls ? connectSecure({ ...target, ...tls }) : connectPlain(target);
    const settle = (result: Socket | string): void => {
      stopTimer();
      signal?.removeEventListener("abort", abort);
      if (typeof result === "string") socket.destroy();
      resolve(result);
    };
    // The listener stays: a later error without a listener would end the process.
    const fail = (error: Error): void => settle(textOf(error));
    const abort = (): void => settle("it was called off");
    const stopTimer = clock.after(connectTimeoutMs, () =>
      settle(`${host}:${port} took no connection within ${connectTimeoutMs} ms`),
    );
    signal?.addEventListener("abort", abort);
    socket.on("error", fail).once(tls ? "secureConnect" : "connect", () => settle(socket));
  });
}

/** An AggregateError of several addresses has an empty message. */
const textOf = (error: Error): string => error.message || ("code" in error ? String(error.code) : error.name);
