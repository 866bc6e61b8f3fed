import { X509Certificate } from "node:crypto";
import { readAcmeState, type AcmeStore } from "../../acme/state.ts";
import type { Config } from "../../config.ts";
import { acmeSettingsOf, adviceOn } from "../acme-certificate.ts";
import { certificateFilesOf, readCertificate } from "../certificate.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

const DAY_MS = 86_400_000;
/** Renewed certificates have a month left, so something has failed by then. */
const DAYS_LOW = 14;

/** Checks the certificates and keys in files: those of the server, and of its SMPP port. */
export function checkCertificates(config: Config, now: number = Date.now()): Finding[] {
  const { smppTlsCertFile: tlsCertFile, smppTlsKeyFile: tlsKeyFile } = config;
  return [
    ...checkFiles("certificate", () => certificateFilesOf(config), now),
    ...checkFiles("SMPP certificate", () => certificateFilesOf({ tlsCertFile, tlsKeyFile }, "SMPP_TLS"), now),
  ];
}

function checkFiles(check: string, find: () => ReturnType<typeof certificateFilesOf>, now: number): Finding[] {
  try {
    const files = find();
    if (!files) return [];
    const days = Math.floor((readCertificate(files).expiresAt - now) / DAY_MS);
    const fix = `Renew it: ${files.certFile} and ${files.keyFile} are read again as soon as they change.`;
    if (days < 0) return [problem(check, `${files.certFile} has expired`, fix)];
    const detail = `${files.certFile} is valid for ${days} more days`;
    return [days < DAYS_LOW ? warning(check, detail, fix) : ok(check, detail)];
  } catch (error) {
    return [problem(check, reasonOf(error), "Correct the files; both are PEM, and the key has no passphrase.")];
  }
}

/** Checks the settings of ACME. */
export function checkAcmeSettings(config: Config): Finding[] {
  try {
    acmeSettingsOf(config);
    return [];
  } catch (error) {
    return [problem("certificate", reasonOf(error), "Correct the settings; docs/serving.md has an example.")];
  }
}

/** Checks the certificate that the server has obtained by ACME, and the last attempt to renew it. */
export async function checkAcme(
  store: Pick<AcmeStore, "settled">,
  { acmeDomains }: Config,
  now: number = Date.now(),
): Promise<Finding[]> {
  if (acmeDomains === null) return [];
  const check = "certificate";
  const { certificate, failure } = await readAcmeState(store);
  const failures = failure
    ? [warning(check, `the last of ${failure.count} attempts failed: ${failure.reason}`, adviceOn(failure.reason))]
    : [];
  if (!certificate)
    return failure
      ? failures.map((finding) => ({ ...finding, status: "problem" as const }))
      : [ok(check, `none yet; the server obtains one for ${acmeDomains.join(", ")} when it runs`)];
  const days = Math.floor((new X509Certificate(certificate.cert).validToDate.getTime() - now) / DAY_MS);
  const detail = `the one for ${certificate.domains.join(", ")} is valid for ${days} more days`;
  if (days >= 0) return [ok(check, detail), ...failures];
  return [problem(check, "the one that ACME has issued has expired", "Start the server: it renews it."), ...failures];
}
