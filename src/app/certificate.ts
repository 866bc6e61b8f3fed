import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { BadSetting, type Config } from "../config.ts";
import type { CertificatePair } from "../http/listener/client-listener.ts";
import type { CertificateSource } from "../http/listener/install-listener.ts";
import { every, type Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** Pause between looks at the files. Watching them would miss exchanged symbolic links, as certbot and Kubernetes use. */
const LOOK_MS = 10_000;

interface CertificateFiles {
  certFile: string;
  keyFile: string;
  /** The settings that name the files, for errors. */
  names: { cert: string; key: string };
}

/** The files of the settings; null without TLS. */
export function certificateFilesOf(
  { tlsCertFile, tlsKeyFile }: Pick<Config, "tlsCertFile" | "tlsKeyFile">,
  prefix: "TLS" | "SMPP_TLS" = "TLS",
): CertificateFiles | null {
  if (tlsCertFile === null && tlsKeyFile === null) return null;
  const names = { cert: `HELIOGRAPH_${prefix}_CERT_FILE`, key: `HELIOGRAPH_${prefix}_KEY_FILE` };
  if (tlsCertFile === null || tlsKeyFile === null)
    throw new BadSetting(`${names.cert} and ${names.key} belong together: set both or neither`);
  return { certFile: tlsCertFile, keyFile: tlsKeyFile, names };
}

interface CheckedPair extends CertificatePair {
  expiresAt: number;
}

/** Reads a pair and checks it. The error names the file and the reason. */
export function readCertificate({ certFile, keyFile, names }: CertificateFiles): CheckedPair {
  const cert = readPem(names.cert, certFile);
  const key = readPem(names.key, keyFile);
  const leaf = explain(names.cert, certFile, "holds no certificate in PEM", () => new X509Certificate(cert));
  const privateKey = explain(names.key, keyFile, "holds no private key in PEM", () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey))
    throw new BadSetting(`${names.key}: ${keyFile} is not the key of the first certificate in ${certFile}`);
  explain(names.cert, certFile, "cannot be used", () => createSecureContext({ cert, key }));
  return { cert, key, expiresAt: leaf.validToDate.getTime() };
}

function readPem(setting: string, file: string): string {
  return explain(setting, file, "cannot be read", () => readFileSync(file, "utf8"));
}

function explain<T>(setting: string, file: string, fault: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadSetting(`${setting}: ${file} ${fault}: ${reason}`, { cause: error });
  }
}

/** The certificate of this server, and its life. */
export interface OwnCertificate extends CertificateSource {
  readonly source: "file" | "acme";
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Looks for a new one now. */
  reload(): void;
  stop(): Promise<void>;
}

/**
 * The certificate of this server, read again when its files change and on SIGHUP. A pair that cannot be used leaves the previous
 * one in place.
 */
export class ServerCertificate implements OwnCertificate {
  readonly source = "file";
  readonly #files: CertificateFiles;
  readonly #log: Log;
  readonly #looks: { stop(): Promise<void> };
  readonly #listeners: ((pair: CertificatePair) => void)[] = [];
  #pair: CheckedPair;
  #version: string;

  constructor(files: CertificateFiles, { clock, log }: { clock: Clock; log: Log }) {
    this.#files = files;
    this.#log = log;
    this.#version = this.#readVersion();
    this.#pair = readCertificate(files);
    this.#looks = every(clock, LOOK_MS, async () => this.#look());
  }

  get current(): CertificatePair {
    return this.#pair;
  }

  get expiresAt(): number {
    return this.#pair.expiresAt;
  }

  onChange(listener: (pair: CertificatePair) => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the files again. */
  reload(): void {
    const { certFile: file } = this.#files;
    try {
      const pair = readCertificate(this.#files);
      if (pair.cert === this.#pair.cert && pair.key === this.#pair.key)
        return this.#log.info({ file }, "TLS certificate unchanged");
      this.#pair = pair;
      for (const listener of this.#listeners) listener(pair);
      this.#log.info({ file, expiresAt: new Date(pair.expiresAt).toISOString() }, "TLS certificate reloaded");
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.error({ file, reason }, "TLS certificate not reloaded, the previous one stays in use");
    }
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  #look(): void {
    const version = this.#readVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.reload();
  }

  /** Changes when a file is written or replaced. */
  #readVersion(): string {
    return [this.#files.certFile, this.#files.keyFile]
      .map((file) => {
        try {
          const { dev, ino, size, mtimeMs } = statSync(file);
          return `${dev} ${ino} ${size} ${mtimeMs}`;
        } catch (error) {
          // Missing, or not readable any more: the next reload reports it.
          return (error as NodeJS.ErrnoException).code;
        }
      })
      .join();
  }
}
