import { accessSync, constants, mkdirSync, readFileSync } from "node:fs";
import { setMaxListeners } from "node:events";
import { join } from "node:path";
import type { CreatedAccount } from "./accounts/create-account.ts";
import { firstStart } from "./accounts/first-start.ts";
import { Keyring } from "./accounts/keyring.ts";
import type { LogInNeeds } from "./accounts/log-in.ts";
import { checkMasterKey, deriveKey, loadMasterKey, sealEndpoints } from "./accounts/master-key.ts";
import { createPeopleSecrets } from "./accounts/people-secrets.ts";
import { accountLookup } from "./account-lookup.ts";
import { createLine, tryLine, type LineNeeds } from "./carriers/create-line.ts";
import { openCarriers } from "./carriers/open-carriers.ts";
import { rememberIdForms } from "./carriers/remember-id-forms.ts";
import type { Alphabet } from "./carriers/smpp/coding.ts";
import type { CreateSmppCarrier } from "./carriers/smpp/needs.ts";
import { assemble } from "./carriers/smpp/reassemble.ts";
import { createSmppCarrier } from "./carriers/smpp/smpp-carrier.ts";
import { SimulatorCarrier } from "./carriers/simulator/simulator-carrier.ts";
import { Catalog } from "./catalog/catalog.ts";
import { BadSetting, type Config } from "./config.ts";
import { EgressRules, type Opened } from "./egress/addresses.ts";
import { HttpClient } from "./egress/http-client.ts";
import { createMediaProbe } from "./egress/media-probe.ts";
import { createOpenAddress } from "./egress/open-address.ts";
import type { Services } from "./http/route.ts";
import { ProxyWatch } from "./http/proxy-watch.ts";
import { createServer } from "./http/server.ts";
import { systemClock, type Clock } from "./lib/clock.ts";
import { Locked, lockFile } from "./lib/lock-file.ts";
import { createLog, type Log } from "./lib/log.ts";
import { MinuteCounter } from "./lib/minute-counter.ts";
import { createSeal } from "./lib/seal.ts";
import { createTurnstile } from "./lib/turnstile.ts";
import { createFollow } from "./links/follow.ts";
import type { AcceptNeeds } from "./messages/accept.ts";
import { answerLate } from "./messages/answer-late.ts";
import { settleCampaigns, type CampaignNeeds } from "./messages/campaign.ts";
import { keepAllTemplates } from "./messages/keep-templates.ts";
import type { DispatchNeeds } from "./messages/dispatch-needs.ts";
import { JustTaken } from "./messages/just-taken.ts";
import { failOver, type FailOverNeeds } from "./messages/fail-over.ts";
import { openLanes } from "./messages/open-lanes.ts";
import type { PrepareNeeds } from "./messages/prepare.ts";
import { receive } from "./messages/receive.ts";
import { receivePart, receiveRests, type ReceivePartsNeeds } from "./messages/receive-parts.ts";
import { matchParked, report, settleParked } from "./messages/report.ts";
import { createSealedWords } from "./messages/sealed-words.ts";
import type { Account } from "./model/account.ts";
import { callbackPath, carrierNameOf } from "./model/catalog.ts";
import type { RouteClass } from "./model/message.ts";
import { CALM } from "./model/phone.ts";
import { FloodFilter } from "./policies/flood.ts";
import { operatorCircle, readOperatorTable, type OperatorTable } from "./policies/operator.ts";
import type { KeptText } from "./store/inbound-store.ts";
import { openPostgresStore } from "./store/postgres/postgres-store.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import { NOBODY, type Store } from "./store/store.ts";
import { createOtpDigest } from "./verify/code.ts";
import { endOfCode } from "./verify/code-end.ts";
import { takeUpDue } from "./verify/take-up.ts";
import { watchCountries } from "./verify/watch-countries.ts";
import { clickCallbacks } from "./webhooks/click-callbacks.ts";
import { createHerald } from "./webhooks/herald.ts";
import { createPusher } from "./webhooks/push.ts";
import { PushThread } from "./webhooks/push-thread.ts";
import { Teller, type TellerNeeds } from "./webhooks/teller.ts";
import { Claimed } from "./work/claimed.ts";
import { Doorstep } from "./work/doorstep.ts";
import { Figures } from "./work/figures.ts";
import { Gates } from "./work/gates.ts";
import { createGroupCommit } from "./work/group-commit.ts";
import { listJobs, startJobs } from "./work/jobs.ts";
import { Live } from "./work/live.ts";
import type { Lanes } from "./work/lanes.ts";
import { Membership } from "./work/membership.ts";
import { addGauges, createMeters } from "./work/meters.ts";
import { startPulse } from "./work/pulse.ts";
import type { Strain } from "./work/strain.ts";

export interface App {
  /** Where it answers. */
  url: string;
  /** What was made, when this start was the first. */
  firstStart: CreatedAccount | null;
  store: Store;
  /** Finishes what is under way and ends. */
  stop(): Promise<void>;
}

/** How long a stop waits for requests under way; whoever has not asked, or not read, by then is cut off. */
const LAST_ANSWERS_MS = 3000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Texts and numbers that the filter of identical texts remembers, on each node for itself. */
const FLOOD_ENTRIES = 200_000;

interface Given {
  clock?: Clock;
  log?: Log;
  /** Makes lines over SMPP; a test may have them end in itself. */
  createSmpp?: CreateSmppCarrier;
  /** Says how the node keeps up with its sending; a test may have it strained. */
  strain?: (routeClass: RouteClass) => Strain;
  /** Whether a thread of its own holds the clients' connections, which is worth it where there is a core for it. */
  porter?: boolean;
  /** Told when a thread has broken in a way that only a new process mends. */
  onBroken?: (error: Error) => void;
}

/** Builds the house and opens its doors: the only place that knows which adapter stands behind a port. */
export async function startApp(config: Config, given: Given = {}): Promise<App> {
  const clock = given.clock ?? systemClock;
  const log = given.log ?? createLog(config.logLevel);
  const { createSmpp = createSmppCarrier } = given;
  if (!config.databaseUrl && !config.roles.includes("dispatch"))
    log.warn("this node does not send, and on SQLite no other can: messages wait until a start with the role dispatch");
  const unlock = lockDataDir(config);
  const store = await openStore(config, clock, given.onBroken);
  const masterKey = loadMasterKey(config.masterKey, config.dataDir);
  await checkMasterKey(store, masterKey);

  const keyring = new Keyring({ store, clock }, deriveKey(masterKey, "api keys"));
  await keyring.refresh();
  const accountOf = (id: number): Account | null => keyring.account(id);
  const catalog = new Catalog({ store, clock });

  const silentMs = config.nodeSilentSeconds * 1000;
  const sends = config.roles.includes("dispatch");
  const membership = new Membership(
    { store, clock, log },
    { alone: store.engine === "sqlite", silentMs, sends, roles: config.roles },
  );
  await membership.join();

  const meters = createMeters();
  const figures = new Figures({ store, clock, log });
  const live = new Live({ store, membership, clock, log });
  const opened = openedNetworks(config);
  const rules = new EgressRules(opened);
  const wayOut = new HttpClient({ rules, clock });
  // A thread has a clock of its own, which nobody outside can move.
  const pusher = given.clock ? createPusher(new HttpClient({ rules, clock }), clock) : new PushThread({ opened, log });
  const operators = loadOperators(config);
  const seal = sealEndpoints(masterKey);
  const telling: TellerNeeds = {
    store,
    catalog,
    membership,
    pusher,
    clock,
    log,
    meters,
    figures,
    accountOf,
    seal,
    operatorOf: (number, told) => operatorCircle(number, operators, told),
  };
  const teller = config.roles.includes("callbacks") ? new Teller(telling) : null;
  const herald = createHerald({ catalog, clock, teller: () => (teller ? membership.node : NOBODY) }, teller);
  const commits = createGroupCommit({ store, clock, log, herald, onlookers: [figures, live] }, config);
  const simulator = new SimulatorCarrier({
    store,
    clock,
    log,
    chaosOf: (id, carrier) =>
      catalog.of(id).named("carrier").get(carrierNameOf(carrier))?.content.chaos ??
      accountOf(id)?.settings.chaos ??
      CALM,
  });
  const otpSeal = createSeal(deriveKey(masterKey, "texts of one-time passwords"));
  const words = createSealedWords(otpSeal);
  const media = createMediaProbe({ wayOut, clock, log });
  const receiving: ReceivePartsNeeds = { store, commits, meters, clock, accountOf, wordsOf };
  let address = "";
  const baseUrl = (): string => config.baseUrl ?? address;
  const lining: LineNeeds = {
    learning: await rememberIdForms({ store, clock, log }),
    simulator,
    createSmpp,
    open: seal.open,
    callbackUrlOf: (id) => baseUrl() + callbackPath(id),
    account: (accountId) => accountLookup({ store, catalog, clock }, accountId),
    wayOut,
    addressOf: createOpenAddress({ rules, clock }),
    onInbound: (inbound) => receive(receiving, inbound),
    onInboundPart: (part) => receivePart(receiving, part),
    onLateAnswer: (late) => answerLate(dispatching, late),
    clock,
    log,
    meters,
  };
  const carriers = openCarriers({
    simulator,
    records: () => catalog.all("carrier"),
    create: (record, line) => createLine(lining, record, line),
    place: () => (membership.sends ? membership : null),
    log,
  });
  catalog.onChange(() => carriers.refresh());
  await catalog.refresh();
  const gates = new Gates({ clock, nodeCount: () => membership.count });
  const dispatching: DispatchNeeds & FailOverNeeds & CampaignNeeds = {
    commits,
    store,
    membership,
    catalog,
    carriers,
    gates,
    claimed: new Claimed(),
    accountOf,
    media,
    words,
    endOfCode: (message) => endOfCode({ store, clock }, message),
    clock,
    log,
    meters,
    taken: new JustTaken(clock),
  };
  const ownSending = sends ? openLanes(dispatching, store, config) : null;
  const sending = ownSending && { ...ownSending, strain: given.strain ?? ownSending.strain };
  simulator.hear(lining.onInbound, (receipt) => report(dispatching, receipt));
  await carriers.start((receipt) => report(dispatching, receipt), { sends });

  const sessionLimits = { idleMs: config.sessionIdleHours * HOUR_MS, lifeMs: config.sessionDays * DAY_MS };
  const jobs = startJobs(
    { clock, log },
    listJobs({
      store,
      membership,
      keyring,
      catalog,
      clock,
      beatMs: silentMs / 3,
      linkLifeMs: config.linkDays * DAY_MS,
      sessionLimits,
      auditMs: config.auditDays * DAY_MS,
      figures,
      telling: teller,
      sending: sending && {
        claim: sending.claim,
        failOver: () => failOver(dispatching),
        settleCampaigns: () => settleCampaigns(dispatching),
        takeUpVerifications: () => takeUpDue({ ...verifying, store, catalog, accountOf, herald }),
        watchCountries: watchCountries({ store, clock, log, meters }),
        settleParked: (ref, parked) => settleParked(dispatching, ref, parked),
        matchParked: (parked) => matchParked(dispatching, parked),
        divideLines: () => carriers.divide(),
        keepTemplates: () => keepAllTemplates({ store, catalog, carriers, membership, clock, log }),
        receiveRests: () => receiveRests(receiving),
        resendOverdue: () => simulator.resendOverdue(),
      },
    }),
  );
  const doorstep = new Doorstep({ clock, commits, sending }, config);
  const pulse = startPulse();
  addGauges(meters, {
    waitingInLanes: () => sending?.lanes.size ?? 0,
    waitingForCommit: () => commits.accept.load + commits.urgentAccept.load,
    waitingToEnter: () => doorstep.waiting,
    inFlight: () => sending?.dispatcher.inFlight ?? 0,
    alive: () => membership.alive,
    // While the store is away the figures are unknown, and the others must still be read.
    waitingInStore: () => store.countWaiting().catch(() => Number.NaN),
    nodes: () => store.countNodes().catch(() => Number.NaN),
    eventLoopDelayMs: () => pulse.read().p99,
  });

  const startedAt = clock.now();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  let started = false;
  const shortLinkBase = (): string => config.shortLinkBase ?? `${baseUrl()}/s`;
  const validityMs = {
    OTP: config.validityOtpSeconds * 1000,
    TRANS: config.validityTransSeconds * 1000,
    PROMO: config.validityPromoSeconds * 1000,
  };
  const flood = new FloodFilter({ entriesMax: FLOOD_ENTRIES });
  const accepting: AcceptNeeds = {
    doorstep,
    flood,
    commits,
    store,
    membership,
    clock,
    log,
    meters,
    sending,
    validityMs,
    linkLifeMs: config.linkDays * DAY_MS,
    shortLinkBase,
    underWay: new Set(),
  };

  const preparing: PrepareNeeds = {
    catalog,
    store,
    commits,
    media,
    clock,
    flood,
    smsRules: config,
    validityMs,
    shortLinkBase,
  };
  const digestOf = createOtpDigest(deriveKey(masterKey, "one-time passwords"));
  const verifying = { preparing, accepting, commits, words, seal: otpSeal, digestOf, clock, log, meters };

  const links = createFollow({
    store,
    clock,
    log,
    meters,
    tell: { of: (batch) => clickCallbacks({ catalog, store }, batch), onStored: () => teller?.claimSoon() },
  });
  const people: LogInNeeds = {
    store,
    clock,
    log,
    secrets: createPeopleSecrets(masterKey),
    sessionLimits,
    tries: new MinuteCounter(),
  };
  const services: Services = {
    store,
    keyring,
    people,
    catalog,
    campaigning: { store, catalog, commits, clock },
    preparing,
    accepting,
    verifying,
    reporting: dispatching,
    smsRules: config,
    simulator,
    carriers,
    tryLine: (content) => tryLine(lining, content),
    telling,
    teller,
    links,
    meters,
    live,
    system: () => ({
      node: membership.node,
      startedAt,
      alive: membership.alive,
      lanes: sizesOf(sending?.lanes),
      waitingForCommit: commits.accept.load + commits.urgentAccept.load,
      inFlight: sending?.dispatcher.inFlight ?? 0,
      pulse: pulse.read(),
    }),
    proxies: new ProxyWatch({ log, trusted: config.trustProxy }),
    bulkTurn: createTurnstile(),
    clock,
    log,
    baseUrl,
    shortLinkBase,
    started: () => started,
    stopping: stopping.signal,
  };
  const server = createServer(services, {
    trustProxy: config.trustProxy,
    answersRequests: config.roles.includes("api"),
    porter: given.porter ?? false,
    onBroken: given.onBroken,
  });
  address = await server.listen({ host: config.host, port: config.port });
  // Only now: secrets that are made but never shown, because the port was taken, would be lost for good.
  const first = await firstStart({ store, keyring, clock }, config);
  await catalog.refresh();
  started = true;
  sending?.fetch();

  return {
    url: address,
    firstStart: first,
    store,
    async stop() {
      stopping.abort();
      const cut = setTimeout(() => server.server.closeAllConnections(), LAST_ANSWERS_MS);
      await server.close();
      clearTimeout(cut);
      doorstep.close();
      await jobs.stop();
      pulse.stop();
      const sent = sending?.stop();
      // Together: what is sent is waited for by the lines, and no longer than whoever ends the process waits for all of it.
      carriers.beginStop();
      await sent;
      await carriers.stop();
      await commits.idle();
      await teller?.stop();
      await links.idle();
      await figures.flush();
      await keyring.saveUses();
      await catalog.saveLearned();
      wayOut.destroy();
      await pusher.close();
      await membership.leave();
      await store.close();
      unlock();
    },
  };
}

/** The words of a text that came in parts, with a mark where one is missing. */
const wordsOf = ({ parts, total, alphabet }: KeptText): string =>
  assemble(
    parts.map(({ octets, ...part }) => ({ ...part, bytes: octets, total, reference: 0 })),
    alphabet as Alphabet,
    "…",
  )?.text ?? "";

const sizesOf = (lanes: Lanes | undefined): Record<RouteClass, number> => ({
  OTP: lanes?.sizeOf("OTP") ?? 0,
  TRANS: lanes?.sizeOf("TRANS") ?? 0,
  PROMO: lanes?.sizeOf("PROMO") ?? 0,
});

/** What whoever runs the server knows of operators and their circles. */
function loadOperators({ operatorsFile }: Config): OperatorTable | null {
  if (operatorsFile === null) return null;
  let text: string;
  try {
    text = readFileSync(operatorsFile, "utf8");
  } catch (error) {
    throw new BadSetting(`HELIOGRAPH_OPERATORS_FILE: ${operatorsFile} cannot be read`, { cause: error });
  }
  const table = readOperatorTable(text);
  if ("fault" in table) throw new BadSetting(`HELIOGRAPH_OPERATORS_FILE: ${table.fault}`);
  return table;
}

const LOOPBACK_HOSTS = new Set(["127.0.0.1", "::1", "localhost"]);

/** A server that only this machine can reach may itself speak to this machine. */
const openedNetworks = ({ host, egressAllow }: Config): Opened => ({
  allow: egressAllow ?? [],
  loopback: LOOPBACK_HOSTS.has(host),
});

/** The store that the settings name. Several processes may have it open; only those that send must be alone on SQLite. */
export async function openStore(config: Config, clock: Clock, onBroken?: (error: Error) => void): Promise<Store> {
  makeDataDir(config.dataDir);
  if (config.databaseUrl) return openPostgresStore(config.databaseUrl);
  return openSqliteStore(join(config.dataDir, "heliograph.db"), clock, onBroken);
}

/** On SQLite there is one node: a second would send what the first has in its lanes. */
function lockDataDir({ dataDir, databaseUrl }: Config): () => void {
  if (databaseUrl) return () => {};
  makeDataDir(dataDir);
  try {
    return lockFile(join(dataDir, "heliograph.lock"));
  } catch (error) {
    if (!(error instanceof Locked)) throw error;
    throw new BadSetting(`HELIOGRAPH_DATA_DIR: ${dataDir} is in use by another process`, { cause: error });
  }
}

function makeDataDir(dataDir: string): void {
  try {
    // The texts and numbers of messages lie in it: nobody else on the machine has a reason to look.
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    throw new BadSetting(`HELIOGRAPH_DATA_DIR: ${dataDir} is not a directory that can be written`, { cause: error });
  }
}
