import { isIP } from "node:net";
import type { BindOptions } from "../../smpp/client.ts";
import type { BindCommand } from "../../smpp/pdu.ts";
import type { SmppCarrierDeps } from "./deps.ts";

/** Bind options from the settings; `address` is the resolved host. */
export function bindOptionsOf(
  { settings, secrets, clock }: Pick<SmppCarrierDeps, "settings" | "secrets" | "clock">,
  as: BindCommand,
  address: string,
): Omit<BindOptions, "onRequest"> {
  const { port, systemId, systemType, window, responseSeconds, enquireSeconds } = settings;
  return {
    host: address,
    port,
    as,
    systemId,
    password: secrets.password,
    systemType,
    addressRange: { ton: 0, npi: 0, address: settings.addressRange },
    window,
    responseTimeoutMs: responseSeconds * 1000,
    enquireAfterMs: enquireSeconds * 1000,
    clock,
    ...tlsOf(settings, secrets),
  };
}

/** The certificate is issued for the host name, although we connect to its address. */
function tlsOf(
  { host, tls }: SmppCarrierDeps["settings"],
  { tlsKey }: SmppCarrierDeps["secrets"],
): Pick<BindOptions, "tls"> {
  if (tls === null) return {};
  const { ca, servername, cert } = tls;
  return {
    tls: {
      // An address is not a valid server name (RFC 6066): Node would print a warning outside the log.
      servername: servername ?? (isIP(host) === 0 ? host : ""),
      ...(ca !== null && { ca }),
      ...(cert !== null && { cert }),
      ...(tlsKey !== null && { key: tlsKey }),
    },
  };
}
