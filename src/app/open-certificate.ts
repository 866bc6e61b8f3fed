import { BadSetting } from "../config.ts";
import { AcmeCertificate, acmeSettingsOf } from "./acme-certificate.ts";
import type { AppBase } from "./base.ts";
import { certificateFilesOf, ServerCertificate } from "./certificate.ts";
import type { AppSecrets } from "./secrets.ts";
import type { AppStorage } from "./storage.ts";

/** The certificate of HTTPS, which the SMPP port with TLS uses too, unless it has its own; null without TLS. */
export type AppCertificate = AcmeCertificate | ServerCertificate | null;

interface OpenCertificateDeps {
  base: AppBase;
  storage: AppStorage;
  secrets: AppSecrets;
}

/** Opens the certificate that the settings ask for: by ACME, or from files. */
export async function openCertificate(deps: OpenCertificateDeps): Promise<AppCertificate> {
  const { config } = deps.base;
  const acme = acmeSettingsOf(config);
  if (!acme) return openFiles(deps.base);
  requireSecureBaseUrl(config, "HELIOGRAPH_ACME_DOMAINS");
  const { clock, log } = deps.base;
  const certificate = new AcmeCertificate(acme, {
    store: deps.storage.store,
    key: deps.secrets.acmeKey,
    clock,
    log,
  });
  await certificate.load();
  return certificate;
}

function openFiles({ config, clock, log }: AppBase): ServerCertificate | null {
  const files = certificateFilesOf(config);
  if (!files && config.redirectPort !== null)
    throw new BadSetting(
      "HELIOGRAPH_REDIRECT_PORT needs HELIOGRAPH_TLS_CERT_FILE or HELIOGRAPH_ACME_DOMAINS: without TLS there is no https to redirect to",
    );
  if (files) requireSecureBaseUrl(config, "HELIOGRAPH_TLS_CERT_FILE");
  return files && new ServerCertificate(files, { clock, log });
}

function requireSecureBaseUrl({ baseUrl }: AppBase["config"], reason: string): void {
  if (baseUrl?.startsWith("http:"))
    throw new BadSetting(`HELIOGRAPH_BASE_URL must begin with https: because ${reason} is set`);
}
