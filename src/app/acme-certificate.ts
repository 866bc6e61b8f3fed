import { createPrivateKey, generateKeyPairSync, X509Certificate, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AcmeClient, AcmeRefused } from "../acme/client.ts";
import { SharedAcmeState, type AcmeState, type AcmeStore, type StoredCertificate } from "../acme/state.ts";
import { selfSigned, signingRequest } from "../acme/x509.ts";
import { BadSetting, type Config } from "../config.ts";
import type { CertificatePair } from "../http/listener/client-listener.ts";
import { every, type Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { OwnCertificate } from "./certificate.ts";

/** Pause between looks at the shared state, so that all nodes soon use a certificate that one of them has obtained. */
const LOOK_MS = 10_000;
/** An order takes seconds. A node that dies during one blocks the others for this long. */
const LEASE_MS = 600_000;
const MINUTE_MS = 60_000;
/** Pauses after failed orders. An authority allows few of them: Let's Encrypt five failures of a name per hour. */
const RETRY_MINUTES = [1, 5, 15, 60];
const STORE_TRIES = 10;
const STORE_PAUSE_MS = 2000;

export interface AcmeSettings {
  domains: readonly string[];
  email: string | null;
  directoryUrl: string;
  ca: string | null;
}

/** The settings of ACME; null without it. */
export function acmeSettingsOf(config: Config): AcmeSettings | null {
  const { acmeDomains: domains, acmeEmail: email, acmeDirectoryUrl: directoryUrl, acmeCaFile } = config;
  if (domains === null) return null;
  if (config.tlsCertFile !== null || config.tlsKeyFile !== null)
    throw new BadSetting("HELIOGRAPH_ACME_DOMAINS and HELIOGRAPH_TLS_CERT_FILE exclude each other: set one of them");
  if (config.redirectPort === null)
    throw new BadSetting(
      "HELIOGRAPH_ACME_DOMAINS needs HELIOGRAPH_REDIRECT_PORT: the authority checks each name by a request to its port 80, which must lead there",
    );
  return { domains, email, directoryUrl, ca: acmeCaFile === null ? null : readCa(acmeCaFile) };
}

function readCa(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new BadSetting(`HELIOGRAPH_ACME_CA_FILE: ${file} cannot be read: ${(error as Error).message}`);
  }
}

interface AcmeDeps {
  store: AcmeStore;
  /** Encrypts the private keys. */
  key: Buffer;
  clock: Clock;
  log: Log;
}

/** Advice by the kind of the authority's refusal. */
export function adviceOn(reason: string): string {
  const code = /\((\w+)\)$/.exec(reason)?.[1] ?? "";
  if (code === "rateLimited") return "Wait: the authority allows few orders. Its documentation lists the limits.";
  if (code === "caa") return "Allow the authority in the CAA record of the domain, or remove the record.";
  if (code === "directory" || code === "unknown")
    return "Check HELIOGRAPH_ACME_DIRECTORY_URL, HELIOGRAPH_ACME_CA_FILE and the firewall.";
  return "Port 80 of every name in HELIOGRAPH_ACME_DOMAINS must lead to HELIOGRAPH_REDIRECT_PORT of this server: check DNS (also AAAA records), firewall and port forwarding.";
}

/** Renew when a third of the lifetime is left. */
const renewalOf = (certificate: X509Certificate): number => {
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  return to - (to - from) / 3;
};

/**
 * A certificate that the server obtains itself by ACME, with the HTTP-01 challenge, and renews. The nodes of one database share
 * it, its account and the answers to challenges, because the authority's request may reach any of them. Until there is one, the
 * server listens with a self-signed certificate.
 */
export class AcmeCertificate implements OwnCertificate {
  readonly source = "acme";
  readonly #settings: AcmeSettings;
  readonly #deps: AcmeDeps;
  readonly #shared: SharedAcmeState;
  readonly #listeners: ((pair: CertificatePair) => void)[] = [];
  readonly #stopping = new AbortController();
  #pair: CertificatePair;
  /** The stored certificate in use; null for the self-signed one. */
  #used: StoredCertificate | null = null;
  #looks: { stop(): Promise<void> } | null = null;
  #looking: Promise<void> = Promise.resolve();
  #reading: Promise<AcmeState> | null = null;

  constructor(settings: AcmeSettings, deps: AcmeDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#shared = new SharedAcmeState(deps.store, deps.key);
    const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#pair = { cert: selfSigned(settings.domains, keys, deps.clock.now()), key: pemOf(keys.privateKey) };
  }

  get current(): CertificatePair {
    return this.#pair;
  }

  get expiresAt(): number {
    return new X509Certificate(this.#pair.cert).validToDate.getTime();
  }

  onChange(listener: (pair: CertificatePair) => void): void {
    this.#listeners.push(listener);
  }

  /** Uses the stored certificate, if there is one. */
  async load(): Promise<void> {
    this.#adopt(await this.#shared.read());
    if (this.#used === null)
      this.#deps.log.warn({ domains: this.#settings.domains }, "no TLS certificate yet, a self-signed one is used");
  }

  /** Begins to obtain and renew it. The plain port must listen by then, because the authority asks there. */
  start(): void {
    this.#looks = every(this.#deps.clock, LOOK_MS, () => this.#lookOnce(false));
    void this.#lookOnce(false);
  }

  /** Tries at once, although the last attempt has failed a moment ago. */
  reload(): void {
    void this.#lookOnce(true);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looks?.stop();
    await this.#looking;
  }

  /** The answer to a challenge of the authority, which may have been placed by another node; null if there is none. */
  async answerTo(token: string): Promise<string | null> {
    // Simultaneous requests share one read, because the port is public.
    this.#reading ??= this.#shared.read().finally(() => {
      this.#reading = null;
    });
    const { order } = await this.#reading;
    return order && Object.hasOwn(order.answers, token) ? (order.answers[token] ?? null) : null;
  }

  #lookOnce(isUrged: boolean): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      if (this.#stopping.signal.aborted) return;
      try {
        const state = await this.#shared.read();
        this.#adopt(state);
        if (this.#isDue(state, isUrged)) await this.#order(isUrged);
      } catch (error) {
        this.#deps.log.warn({ err: error }, "TLS certificate not checked for renewal");
      }
    });
    return this.#looking;
  }

  #adopt({ certificate }: AcmeState): void {
    if (!certificate || certificate.cert === this.#used?.cert || !this.#isWanted(certificate)) return;
    this.#pair = { cert: certificate.cert, key: this.#shared.encryption.decrypt(certificate.key) };
    this.#used = certificate;
    for (const listener of this.#listeners) listener(this.#pair);
    const { domains } = this.#settings;
    this.#deps.log.info({ domains, expiresAt: new Date(this.expiresAt).toISOString() }, "TLS certificate in use");
  }

  /** For the names and the authority of the settings. */
  #isWanted({ domains, directoryUrl }: StoredCertificate): boolean {
    const wanted = this.#settings;
    return directoryUrl === wanted.directoryUrl && wanted.domains.every((domain) => domains.includes(domain));
  }

  #isDue({ certificate, order, failure }: AcmeState, isUrged: boolean): boolean {
    const now = this.#deps.clock.now();
    if (order && order.leaseEndsAt > now) return false;
    if (failure && failure.retryAt > now && !isUrged) return false;
    return !certificate || !this.#isWanted(certificate) || now >= renewalOf(new X509Certificate(certificate.cert));
  }

  /** Takes the lease, so that one node alone orders, and places the order. */
  async #order(isUrged: boolean): Promise<void> {
    const { clock, log } = this.#deps;
    const { domains, directoryUrl } = this.#settings;
    const { encryption } = this.#shared;
    const leaseEndsAt = clock.now() + LEASE_MS;
    const leased = await this.#shared.change((state) =>
      this.#isDue(state, isUrged)
        ? {
            ...state,
            accountKeys: { [directoryUrl]: encryption.encrypt(pemOf(newKeys().privateKey)), ...state.accountKeys },
            order: { leaseEndsAt, answers: {} },
          }
        : null,
    );
    if (!leased) return;
    try {
      const accountKey = createPrivateKey(encryption.decrypt(leased.accountKeys[directoryUrl] ?? ""));
      const keys = newKeys();
      const client = new AcmeClient({ ...this.#settings, accountKey, signal: this.#stopping.signal });
      const cert = await client.obtain(domains, signingRequest(domains, keys), async (token, answer) => {
        await this.#shared.change((state) => ({
          ...state,
          order: { leaseEndsAt, answers: { ...state.order?.answers, [token]: answer } },
        }));
      });
      if (!new X509Certificate(cert).checkPrivateKey(keys.privateKey))
        throw new AcmeRefused("the authority issued a certificate for another key", "malformed");
      const certificate = { domains, directoryUrl, cert, key: encryption.encrypt(pemOf(keys.privateKey)) };
      await this.#keep((state) => ({ ...state, certificate, order: null, failure: null }));
    } catch (error) {
      if (this.#stopping.signal.aborted) return this.#keep((state) => ({ ...state, order: null }));
      const failure = failureAfter(leased.failure, error, clock.now());
      const { reason } = failure;
      const retryAt = new Date(failure.retryAt).toISOString();
      log.error({ domains, reason, advice: adviceOn(reason), retryAt }, "TLS certificate not obtained");
      await this.#keep((state) => ({ ...state, order: null, failure }));
    }
  }

  /** Stores the end of an order. A certificate that is lost has to be ordered again, and few orders are allowed. */
  async #keep(next: (state: AcmeState) => AcmeState): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const state = await this.#shared.change(next);
        if (state) this.#adopt(state);
        return;
      } catch (error) {
        if (tries === STORE_TRIES || this.#stopping.signal.aborted) throw error;
        await sleep(STORE_PAUSE_MS);
      }
    }
  }
}

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

function failureAfter(last: AcmeState["failure"], error: unknown, now: number): NonNullable<AcmeState["failure"]> {
  const count = (last?.count ?? 0) + 1;
  const pauseMs = (RETRY_MINUTES[count - 1] ?? RETRY_MINUTES.at(-1) ?? 60) * MINUTE_MS;
  const askedMs = error instanceof AcmeRefused ? (error.retryAfterMs ?? 0) : 0;
  return { count, reason: (error as Error).message, retryAt: now + Math.max(pauseMs, askedMs) };
}
