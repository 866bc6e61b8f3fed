import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure, type ConnectionOptions } from "node:tls";
import { NO_ADDRESS, type Address, type Bind, type BindCommand } from "./pdu.ts";
import { Session, type SessionOptions } from "./session.ts";
import { realClock } from "./session-clock.ts";
import { findTlv, NO_TLVS, type Tlv } from "./tlv.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const SMPP_3_4 = 0x34;

/** What TLS may be told. Certificates are verified unless `rejectUnauthorized` is set to false. */
type TlsOptions = Pick<
  ConnectionOptions,
  "ca" | "cert" | "key" | "passphrase" | "servername" | "rejectUnauthorized" | "minVersion"
>;

export interface BindOptions extends SessionOptions {
  host: string;
  port: number;
  /** Without it nothing is encrypted. */
  tls?: TlsOptions;
  /** bind_transceiver unless said otherwise. */
  as?: BindCommand;
  systemId: string;
  password: string;
  systemType?: string;
  interfaceVersion?: number;
  addressRange?: Address;
  tlvs?: readonly Tlv[];
  connectTimeoutMs?: number;
  /** Gives up as if the other side could not be reached. */
  signal?: AbortSignal;
}

/** What became of a try to bind; none of these is an error. */
export type BindResult =
  | {
      readonly kind: "bound";
      readonly session: Session;
      /** What the SMSC calls itself. */
      readonly systemId: string;
      /** The version that it speaks, if it says so. */
      readonly interfaceVersion: number | null;
    }
  /** It answered with a status other than zero. */
  | { readonly kind: "refused"; readonly status: number }
  /** No connection, no TLS, or no answer. */
  | { readonly kind: "unreachable"; readonly reason: string };

/** Connects and binds. Rejects only what could never be written, such as a system id that is too long. */
export async function bind(options: BindOptions): Promise<BindResult> {
  const connected = await connect(options);
  if (typeof connected === "string") return { kind: "unreachable", reason: connected };
  const session = new Session(connected, options);
  const giveUp = (): void => session.destroy();
  options.signal?.addEventListener("abort", giveUp);
  try {
    return await ask(session, options);
  } catch (error) {
    session.destroy();
    throw error;
  } finally {
    options.signal?.removeEventListener("abort", giveUp);
  }
}

async function ask(session: Session, options: BindOptions): Promise<BindResult> {
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
    reason: end.reason === "failed" ? wordsOf(end.error) : `the connection was ${end.reason}`,
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

/** A connected socket, or the reason why there is none. */
function connect({ host, port, tls, clock = realClock, ...options }: BindOptions): Promise<Socket | string> {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS, signal } = options;
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve("it was called off");
    const target = { host, port, noDelay: true, keepAlive: true };
    const socket = tls ? connectSecure({ ...target, ...tls }) : connectPlain(target);
    const settle = (result: Socket | string): void => {
      stopTimer();
      signal?.removeEventListener("abort", callOff);
      if (typeof result === "string") socket.destroy();
      resolve(result);
    };
    // The listener stays: a socket that fails once more must not end the process.
    const fail = (error: Error): void => settle(wordsOf(error));
    const callOff = (): void => settle("it was called off");
    const stopTimer = clock.after(connectTimeoutMs, () =>
      settle(`${host}:${port} took no connection within ${connectTimeoutMs} ms`),
    );
    signal?.addEventListener("abort", callOff);
    socket.on("error", fail).once(tls ? "secureConnect" : "connect", () => settle(socket));
  });
}

/** Several addresses that all fail make an error without words of its own. */
const wordsOf = (error: Error): string => error.message || ("code" in error ? String(error.code) : error.name);
