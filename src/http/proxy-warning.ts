import type { IncomingHttpHeaders } from "node:http";
import type { Log } from "../lib/log.ts";
import type { Warning } from "../model/warning.ts";

const UNTRUSTED: Warning = {
  code: "UNTRUSTED_PROXY",
  message:
    "Requests have the header X-Forwarded-For, but HELIOGRAPH_TRUST_PROXY is off. Login lockouts, the address lists of API keys and the audit log therefore use the address of the proxy. Set HELIOGRAPH_TRUST_PROXY=true if your proxy sets this header. If you have no proxy, a client sends the header itself and it is ignored.",
};

/** Detects a proxy that is not configured as trusted. Without that setting, lockouts and address lists see the proxy's address. */
export class ProxyWarning {
  readonly #log: Log;
  readonly #trusted: boolean;
  #seen = false;

  constructor({ log, trusted }: { log: Log; trusted: boolean }) {
    this.#log = log;
    this.#trusted = trusted;
  }

  observe(headers: IncomingHttpHeaders): void {
    if (this.#seen || this.#trusted || headers["x-forwarded-for"] === undefined) return;
    this.#seen = true;
    this.#log.warn({ setting: "HELIOGRAPH_TRUST_PROXY" }, "untrusted proxy detected");
  }

  get warnings(): readonly Warning[] {
    return this.#seen ? [UNTRUSTED] : [];
  }
}
