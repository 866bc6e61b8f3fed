import type { AuditDeps } from "../../accounts/audit.ts";
import type { Keyring } from "../../accounts/keyring.ts";
import type { Membership } from "../../cluster/membership.ts";
import { newId } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import { unmapped } from "../../lib/network.ts";
import type { Bind } from "../../smpp/pdu.ts";
import { listen, type BindDecision, type ServerOptions, type SmppServer as Listener } from "../../smpp/server.ts";
import type { ProtocolViolation, Session } from "../../smpp/session.ts";
import { STATUS } from "../../smpp/status.ts";
import type { Endpoint } from "../../store/callbacks.ts";
import type { BindKind, SmppBindStore } from "../../store/smpp-binds.ts";
import { BindAuthenticator, clientOf, mayStayBound, type BindPeer } from "./authenticate-bind.ts";
import type { SmppClient } from "./client.ts";
import { settleWaitingTexts, type WaitingTextDeps } from "./give-up.ts";
import { LiveBind, type LiveBinds } from "./live-binds.ts";
import { PduTrace } from "./pdu-trace.ts";
import { RequestHandler, type RequestDeps } from "./requests.ts";

export interface SmppServerDeps extends RequestDeps, WaitingTextDeps {
  store: RequestDeps["store"] & WaitingTextDeps["store"] & SmppBindStore & AuditDeps["store"];
  binds: LiveBinds;
  keyring: Pick<Keyring, "findLogin" | "findSystemId" | "refreshShared">;
  membership: Pick<Membership, "node" | "alive">;
  log: Log;
  /** Claims receipts and texts that wait for a client that is bound here. */
  claimHeld(accountId: number, endpointId: string): Promise<void>;
  /** The same for several system ids. */
  claimAllHeld(endpoints: readonly Endpoint[]): Promise<void>;
}

/** Addresses to listen on; a port is null without such a listener. */
export interface SmppListenOptions {
  host: string;
  port: number | null;
  tlsPort: number | null;
  tls: NonNullable<ServerOptions["tls"]> | null;
}

const CONNECTIONS_MAX = 10_000;
/** At a stop: for pending responses, then for the response to unbind. */
const DRAIN_MS = 3000;
const UNBIND_MS = 1000;
const INACTIVE_MS = 60_000;
/** A session opens right after its bind is stored, or has ended before. */
const OPENED_WITHIN_MS = 60_000;
/** A pause between reports of counters; requests of people are looked for more often. */
const REPORT_MS = 2000;
const KINDS: Readonly<Record<Bind["command"], BindKind>> = {
  bind_transmitter: "transmitter",
  bind_receiver: "receiver",
  bind_transceiver: "transceiver",
};

/** The SMPP server: clients bind, submit messages, and get receipts and texts from phones. */
export class SmppFacade {
  readonly #deps: SmppServerDeps;
  readonly #requests: RequestHandler;
  readonly #authenticator: BindAuthenticator;
  readonly #listeners: { listener: Listener; secure: boolean }[] = [];
  /** From the first PDU of a connection on, so that the trace of a bind has the bind itself. */
  readonly #traces = new WeakMap<Session, PduTrace>();
  #reportedAt = 0;
  #isStopping = false;

  private constructor(deps: SmppServerDeps) {
    this.#deps = deps;
    this.#requests = new RequestHandler(deps);
    this.#authenticator = new BindAuthenticator(deps);
  }

  /** Listens; rejects if a port is taken. */
  static async open(deps: SmppServerDeps, { host, port, tlsPort, tls }: SmppListenOptions): Promise<SmppFacade> {
    const server = new SmppFacade(deps);
    if (port !== null) await server.#listen({ host, port }, false);
    if (tlsPort !== null && tls) await server.#listen({ host, port: tlsPort, tls }, true);
    return server;
  }

  get ports(): { plain: number | null; tls: number | null } {
    const portOf = (secure: boolean): number | null =>
      this.#listeners.find((each) => each.secure === secure)?.listener.port ?? null;
    return { plain: portOf(false), tls: portOf(true) };
  }

  /** Uses another certificate for new connections. */
  setTls(tls: Pick<NonNullable<ServerOptions["tls"]>, "key" | "cert">): void {
    for (const { listener } of this.#listeners) listener.setTls(tls);
  }

  async #listen(at: Pick<ServerOptions, "host" | "port" | "tls">, secure: boolean): Promise<void> {
    const { log, clock } = this.#deps;
    const listener = await listen({
      ...at,
      systemId: "heliograph",
      clock,
      connectionsMax: CONNECTIONS_MAX,
      enquireAfterMs: INACTIVE_MS,
      onBind: (bind, { address, hasCertificate }) => this.#onBind(bind, { address, secure, hasCertificate }),
      onPdu: (direction, seen, session) => this.#traceOf(session).add(clock.now(), direction, seen),
      onViolation: (violation) => this.#onViolation(violation),
      onError: (error) => log.warn({ err: error }, "smpp connection not accepted"),
    });
    this.#listeners.push({ listener, secure });
    log.info({ host: at.host, port: listener.port, tls: secure }, "smpp listening");
  }

  async #onBind(bind: Bind, peer: BindPeer): Promise<BindDecision> {
    const { log } = this.#deps;
    const refuse = (status: number, reason: string): BindDecision => {
      log.warn({ systemId: bind.systemId, address: unmapped(peer.address), reason }, "smpp bind refused");
      return { kind: "refused", status };
    };
    if (this.#isStopping) return refuse(STATUS.ESME_RSYSERR, "the node stops");
    const found = await this.#authenticator.authenticateFresh(bind, peer);
    if ("status" in found) return refuse(found.status, found.reason);
    const stored = await this.#register(bind, found.client, peer);
    if (!stored) return refuse(STATUS.ESME_RBINDFAIL, "too many binds");
    const { id, boundAt } = stored;
    const { window } = found.client.access;
    // The session exists once the response is sent; its first requests come after that.
    let live: LiveBind | null = null;
    const kind = KINDS[bind.command];
    const { secure, hasCertificate } = peer;
    const { client } = found;
    const open = (session: Session): LiveBind =>
      this.#open({ id, kind, session, client, secure, hasCertificate, boundAt }, window);
    return {
      kind: "accepted",
      onRequest: (pdu, session) => {
        live ??= open(session);
        return this.#requests.answer(live, pdu);
      },
      onBound: (session) => {
        live ??= open(session);
        if (live.receives) void this.#claimFor(live.client);
      },
      onAborted: () => {
        // A request that came with the bind has opened it, and its end removes it.
        if (live === null) void this.#forget(client.account.id, id);
      },
    };
  }

  #traceOf(session: Session): PduTrace {
    let trace = this.#traces.get(session);
    if (!trace) {
      trace = new PduTrace();
      this.#traces.set(session, trace);
    }
    return trace;
  }

  /** Stores the bind; null if its system id has too many. */
  async #register(
    { command }: Bind,
    { account, credentialId, access }: SmppClient,
    { address, secure }: BindPeer,
  ): Promise<{ id: string; boundAt: number } | null> {
    const { store, membership, clock } = this.#deps;
    const boundAt = clock.now();
    const bind = { accountId: account.id, id: newId(boundAt), credentialId, node: membership.node, boundAt, secure };
    const stored = { ...bind, kind: KINDS[command], address: unmapped(address), counters: "{}", trace: null };
    return (await store.openBind(stored, access.maxBinds)) ? bind : null;
  }

  #open(given: Omit<ConstructorParameters<typeof LiveBind>[0], "trace">, window: number): LiveBind {
    const { binds, log } = this.#deps;
    const bind = new LiveBind({ ...given, trace: this.#traceOf(given.session) });
    bind.session.window = window;
    binds.add(bind);
    const { systemId, address } = bind.client;
    log.info({ systemId, address, kind: bind.kind, tls: bind.secure }, "smpp bound");
    void bind.session.closed.then(async (end) => {
      binds.remove(bind);
      log.info({ systemId, address, reason: end.reason }, "smpp bind ended");
      await this.#forget(bind.client.account.id, bind.id);
    });
    return bind;
  }

  /** Removes an ended bind; `settle` tries again if the store is away. */
  async #forget(accountId: number, id: string): Promise<void> {
    const { store, log } = this.#deps;
    await store.closeBind(accountId, id).catch((error: unknown) => log.warn({ err: error }, "smpp bind not removed"));
  }

  #onViolation(violation: ProtocolViolation): void {
    if (violation.kind === "handler failed")
      this.#deps.log.error({ err: violation.error, command: violation.pdu.command }, "smpp request failed");
    else this.#deps.log.debug({ kind: violation.kind }, "smpp protocol violation by peer");
  }

  async #claimFor({ account, credentialId }: SmppClient): Promise<void> {
    try {
      await this.#deps.claimHeld(account.id, credentialId);
    } catch (error) {
      this.#deps.log.warn({ err: error }, "smpp receipts not claimed");
    }
  }

  async #claimForAll(): Promise<void> {
    const { binds, claimAllHeld, log } = this.#deps;
    try {
      await claimAllHeld(
        binds.receivers().map(({ account, credentialId }) => ({ accountId: account.id, endpointId: credentialId })),
      );
    } catch (error) {
      log.warn({ err: error }, "smpp receipts not claimed");
    }
  }

  /** Periodic work: ends binds of revoked system ids, fetches receipts that wait, and reports to people. */
  async tick(): Promise<void> {
    const { binds, store, membership, clock } = this.#deps;
    if (!membership.alive) return;
    this.#refreshClients();
    await this.#claimForAll();
    if (binds.count === 0) return;
    const now = clock.now();
    const stored = await store.listNodeBinds(membership.node);
    for (const { id, isClosing } of stored) if (isClosing) void binds.find(id)?.session.unbind();
    const traced = new Set(stored.filter(({ traceUntil }) => traceUntil > now).map(({ id }) => id));
    if (traced.size === 0 && now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    await store.reportBinds([...binds.all].map((bind) => bind.report(traced.has(bind.id) ? now : null)));
  }

  /** Accepts or gives up long texts that wait, and forgets binds that ended unseen, here or with their node. */
  async settle(): Promise<void> {
    const { store, membership, binds, clock } = this.#deps;
    if (!membership.alive) return;
    await settleWaitingTexts(this.#deps);
    await store.removeDeadBinds();
    const openBefore = clock.now() - OPENED_WITHIN_MS;
    for (const { accountId, id, boundAt } of await store.listNodeBinds(membership.node))
      if (boundAt < openBefore && !binds.find(id)) await store.closeBind(accountId, id);
  }

  /** Changed settings apply to open binds. A system id that is revoked, expired or not allowed from there loses its binds. */
  #refreshClients(): void {
    const { binds, keyring, clock } = this.#deps;
    const now = clock.now();
    for (const bind of binds.all) {
      const { secure, hasCertificate } = bind;
      const { systemId, address } = bind.client;
      const credential = keyring.findSystemId(systemId);
      const isOver = credential?.key.revokedAt !== null || (credential.key.expiresAt ?? Infinity) <= now;
      if (isOver || !mayStayBound(credential, { address, secure, hasCertificate })) {
        void bind.session.unbind();
        continue;
      }
      bind.client = clientOf(credential.key, credential.account, address);
      if (bind.session.window !== bind.client.access.window) bind.session.window = bind.client.access.window;
    }
  }

  /** Stops listening, answers pending submits, and unbinds. Receipts that are not acknowledged stay in the store. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    // Unbinding begins at once for all, with limits that fit into the time of a stop.
    for (const { session } of this.#deps.binds.all) void session.unbind({ drainMs: DRAIN_MS, unbindMs: UNBIND_MS });
    await Promise.all(this.#listeners.map(({ listener }) => listener.close()));
  }
}
