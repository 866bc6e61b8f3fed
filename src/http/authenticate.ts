import type { IncomingHttpHeaders } from "node:http";
import type { BlockList } from "node:net";
import type { Credential, Keyring } from "../accounts/keyring.ts";
import type { Clock } from "../lib/clock.ts";
import { MinuteCounter } from "../lib/minute-counter.ts";
import { unmapped } from "../lib/network.ts";
import type { Scope } from "../model/api-key.ts";
import { Problem } from "../model/problem.ts";

const BAD_KEYS_PER_MINUTE = 20;

export interface Admission {
  keyring: Keyring;
  clock: Clock;
  /** By address, so that guessing is slow; good keys from the same address stay welcome. */
  badKeys: MinuteCounter;
}

interface Asked {
  headers: IncomingHttpHeaders;
  address: string;
}

/** Lets a request in, or says why not. What is wrong with a key is not said: missing, unknown, revoked and expired look alike. */
export function authenticate(
  admission: Admission,
  request: Asked,
  scope: Scope,
  setHeader: (name: string, value: string) => void,
): Credential {
  const { keyring, clock, badKeys } = admission;
  const now = clock.now();
  const credential = keyring.find(oneKey(request.headers.apikey));
  if (!credential) {
    if (badKeys.count(request.address, now) <= BAD_KEYS_PER_MINUTE) throw new Problem("UNAUTHORIZED");
    throw new Problem("RATE_LIMITED", {
      message: "Too many requests with bad keys came from this address.",
      retryAfterSeconds: MinuteCounter.secondsLeft(now),
    });
  }
  refuseWhatItMayNot(credential, request, scope);
  const { bucket } = credential;
  if (bucket) {
    const taken = bucket.take(now);
    const waitSeconds = taken.taken ? 1 : Math.max(1, Math.ceil(taken.waitMs / 1000));
    setHeader("ratelimit-policy", `"key";q=${bucket.ratePerSecond};w=1`);
    setHeader("ratelimit", `"key";r=${taken.taken ? taken.left : 0};t=${waitSeconds}`);
    if (!taken.taken) throw new Problem("RATE_LIMITED", { retryAfterSeconds: waitSeconds });
  }
  return credential;
}

/** The same for a request that was let in before and is still being answered: it costs nothing of the key's rate. */
export function authenticateAgain({ keyring }: Pick<Admission, "keyring">, request: Asked, scope: Scope): Credential {
  const credential = keyring.find(oneKey(request.headers.apikey));
  if (!credential) throw new Problem("UNAUTHORIZED");
  refuseWhatItMayNot(credential, request, scope);
  return credential;
}

function refuseWhatItMayNot({ key, account, networks }: Credential, { address }: Asked, scope: Scope): void {
  if (account.suspended) throw new Problem("ACCOUNT_SUSPENDED");
  if (networks && !isWithin(networks, address)) throw new Problem("IP_NOT_ALLOWED");
  if (key.scopes.includes(scope)) return;
  throw new Problem("INSUFFICIENT_SCOPE", {
    message: `This API key may not do that: it lacks the scope "${scope}".`,
  });
}

/** The header may come twice with the same value; Node joins repetitions with a comma. */
function oneKey(header: string | string[] | undefined): string {
  if (typeof header === "string" && !header.includes(",")) return header;
  const values = new Set([header ?? ""].flat().flatMap((value) => value.split(",").map((part) => part.trim())));
  const [first = ""] = values;
  return values.size === 1 ? first : "";
}

function isWithin(networks: BlockList, address: string): boolean {
  const plain = unmapped(address);
  return networks.check(plain, plain.includes(":") ? "ipv6" : "ipv4");
}
