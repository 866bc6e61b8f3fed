import { writeAuditEntry, type AuditDeps } from "../../accounts/audit.ts";
import type { Keyring } from "../../accounts/keyring.ts";
import type { Credential } from "../../accounts/secret-index.ts";
import type { Clock } from "../../lib/clock.ts";
import { unmapped } from "../../lib/network.ts";
import type { BindAction } from "../../model/audit.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { smppAccessOf } from "../../model/smpp-access.ts";
import type { Bind } from "../../smpp/pdu.ts";
import { STATUS, type StatusName } from "../../smpp/status.ts";
import { BindLimits, type BindAttempt } from "./bind-limits.ts";
import type { SmppClient } from "./client.ts";

export interface AuthenticateBindDeps extends AuditDeps {
  keyring: Pick<Keyring, "findLogin" | "findSystemId" | "refreshShared">;
  clock: Clock;
}

/** Peer of a bind. */
export interface BindPeer {
  address: string;
  secure: boolean;
  /** It has proved a certificate of the authority for clients. */
  hasCertificate: boolean;
}

type Authenticated = { client: SmppClient } | { status: number; reason: string };

/** Authenticates binds. An unknown system id and a wrong password get the same response. */
export class BindAuthenticator {
  readonly #deps: AuthenticateBindDeps;
  readonly #limits = new BindLimits();

  constructor(deps: AuthenticateBindDeps) {
    this.#deps = deps;
  }

  /**
   * The same, and again once the store is read: another node may have just created the credential. A failed bind counts before
   * the wait, so that binds at once get no more guesses. One that is refused unseen causes no read, whose time would tell a wrong
   * password from the right one (timing attack).
   */
  async authenticateFresh(bind: Pick<Bind, "systemId" | "password">, peer: BindPeer): Promise<Authenticated> {
    const { keyring } = this.#deps;
    const known = this.authenticate(bind, peer);
    if (!("status" in known) || known.status !== STATUS.ESME_RINVPASWD) return known;
    await keyring.refreshShared();
    return keyring.findLogin("smpp", bind.systemId, bind.password) ? this.authenticate(bind, peer) : known;
  }

  /** Authenticates by the credentials in memory. */
  authenticate({ systemId, password }: Pick<Bind, "systemId" | "password">, peer: BindPeer): Authenticated {
    const { keyring, clock } = this.#deps;
    const now = clock.now();
    const named = keyring.findSystemId(systemId);
    const address = unmapped(peer.address);
    const isListed = named?.networks ? isAllowedFrom(named, address) : false;
    const attempt = { systemId, address, credentialId: named?.key.id ?? null, isListed };
    const limited = this.#limits.refusalOf(attempt, now);
    if (limited !== null) {
      if (limited === "system id") this.#audit("bind locked", named, attempt, now);
      return refused("ESME_RBINDFAIL", `too many failed binds of this ${limited}`);
    }
    const found = keyring.findLogin("smpp", systemId, password);
    if (!found) {
      this.#limits.failed(attempt, now);
      this.#audit("bind failed", named, attempt, now);
      return refused("ESME_RINVPASWD", "unknown system id or wrong password");
    }
    const { key, account } = found;
    const reason = refusalOf(found, { ...peer, address });
    if (reason !== null) {
      this.#audit("bind failed", found, attempt, now);
      return refused("ESME_RBINDFAIL", reason);
    }
    this.#limits.bound(attempt, now);
    return { client: clientOf(key, account, address) };
  }

  /** Failed binds of unknown system ids belong to no account; the log has them. */
  #audit(action: BindAction, of: Credential<StoredCredential> | null, { address }: BindAttempt, now: number): void {
    if (!of || !this.#limits.isAuditDue(of.key.id, action, now)) return;
    void writeAuditEntry(this.#deps, {
      accountId: of.account.id,
      actor: { kind: "nobody", id: null, name: null },
      action,
      kind: "credentials",
      recordId: of.key.id,
      recordName: of.key.username,
      fields: [],
      address,
    });
  }
}

/** The reason to refuse a bind with the right password, or to end it later; null if there is none. */
function refusalOf({ key, account, networks }: Credential<StoredCredential>, peer: BindPeer): string | null {
  if (networks && !isAllowedFrom({ networks }, peer.address)) return "address not allowed";
  if (account.suspended) return "account suspended";
  return missingSecurity(key, peer);
}

/** The requirement of the system id that a connection does not meet; null if it meets all. */
function missingSecurity(
  { settings }: Pick<StoredCredential, "settings">,
  peer: Omit<BindPeer, "address">,
): string | null {
  const { requireTls, requireClientCertificate } = smppAccessOf(settings);
  if (requireTls && !peer.secure) return "the system id requires TLS";
  return requireClientCertificate && !peer.hasCertificate ? "the system id requires a client certificate" : null;
}

/** True if an open bind would be accepted again, but for a suspended account: its receipts still arrive. */
export const mayStayBound = ({ key, networks }: Credential<StoredCredential>, peer: BindPeer): boolean =>
  isAllowedFrom({ networks }, peer.address) && missingSecurity(key, peer) === null;

const isAllowedFrom = ({ networks }: Pick<Credential, "networks">, address: string): boolean =>
  networks === null || networks.check(address, address.includes(":") ? "ipv6" : "ipv4");

/** The client of a valid credential. */
export const clientOf = (
  { id, username, mode, scopes, settings }: StoredCredential,
  account: SmppClient["account"],
  address: string,
): SmppClient => ({
  account,
  credentialId: id,
  systemId: username,
  test: mode === "test",
  scopes,
  access: smppAccessOf(settings),
  address,
});

const refused = (status: StatusName, reason: string): { status: number; reason: string } => ({
  status: STATUS[status],
  reason,
});
