import type { IncomingHttpHeaders } from "node:http";
import type { Log } from "../lib/log.ts";

/** Something about the whole service that its operator should know. */
export interface Warning {
  code: "UNTRUSTED_PROXY";
  message: string;
}

const UNTRUSTED: Warning = {
  code: "UNTRUSTED_PROXY",
  message:
    "Requests come with X-Forwarded-For, and HELIOGRAPH_TRUST_PROXY is off: if a proxy stands before this server, all people seem to come from its one address, so that a lockout after wrong passwords, the networks of a key and the log of changes are about the proxy. Set HELIOGRAPH_TRUST_PROXY=true if your proxy writes that header; if there is none, somebody writes it by hand, and it counts for nothing.",
};

/** Notices a proxy that this server was not told of: whose address is whose decides who is locked out. */
export class ProxyWatch {
  readonly #log: Log;
  readonly #trusted: boolean;
  #seen = false;

  constructor({ log, trusted }: { log: Log; trusted: boolean }) {
    this.#log = log;
    this.#trusted = trusted;
  }

  look(headers: IncomingHttpHeaders): void {
    if (this.#seen || this.#trusted || headers["x-forwarded-for"] === undefined) return;
    this.#seen = true;
    this.#log.warn({ setting: "HELIOGRAPH_TRUST_PROXY" }, "a request came through a proxy that is not trusted");
  }

  get warnings(): readonly Warning[] {
    return this.#seen ? [UNTRUSTED] : [];
  }
}
