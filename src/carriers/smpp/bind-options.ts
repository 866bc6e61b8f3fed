import type { BindOptions } from "../../smpp/client.ts";
import type { BindCommand } from "../../smpp/pdu.ts";
import type { SmppCarrierNeeds } from "./needs.ts";

/** How a line is bound, by its settings; `address` is where its host is now. */
export function bindOptionsOf(
  { settings, secrets, clock }: Pick<SmppCarrierNeeds, "settings" | "secrets" | "clock">,
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

/** The certificate is the host's, although we connect to its address. */
function tlsOf(
  { host, tls }: SmppCarrierNeeds["settings"],
  { tlsKey }: SmppCarrierNeeds["secrets"],
): Pick<BindOptions, "tls"> {
  if (tls === null) return {};
  const { ca, servername, cert } = tls;
  return {
    tls: {
      servername: servername ?? host,
      ...(ca !== null && { ca }),
      ...(cert !== null && { cert }),
      ...(tlsKey !== null && { key: tlsKey }),
    },
  };
}
