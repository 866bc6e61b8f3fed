import { firstStart } from "../../src/accounts/first-start.ts";
import { createBase } from "../../src/app/base.ts";
import { createCarriers, startCarriers } from "../../src/app/carriers.ts";
import { joinCluster } from "../../src/app/cluster.ts";
import { createEgress } from "../../src/app/egress.ts";
import { startAppJobs } from "../../src/app/jobs.ts";
import { createAppMedia } from "../../src/app/media.ts";
import { createPipeline, type AppPipeline } from "../../src/app/pipeline.ts";
import { loadRecords } from "../../src/app/records.ts";
import { loadSecrets } from "../../src/app/secrets.ts";
import { createAppServer } from "../../src/app/server.ts";
import { stopInOrder } from "../../src/app/stop.ts";
import { createWebhooks, type AppWebhooks } from "../../src/app/webhooks.ts";
import type { Config } from "../../src/config.ts";
import { SendGate } from "../../src/pipeline/accept/send-gate.ts";
import { createLog } from "../../src/lib/log.ts";
import { withSharedCounts } from "../../src/store/shared-count.ts";
import type { Store } from "../../src/store/store.ts";
import type { CarrierNetwork } from "./carrier-network.ts";
import type { Customer } from "./customer.ts";
import type { Random } from "../torture/random.ts";
import type { SimulatedStore } from "./simulated-database.ts";
import { SimulatedProcess, type World } from "./world.ts";

export interface Answer {
  status: number;
  body: unknown;
  headers: Readonly<Record<string, string | number | string[] | undefined>>;
}

/** One request to a node, as an observer outside sees it. */
export interface Attempt {
  process: SimulatedProcess;
  askedAt: number;
  /** When the node had its answer, whether or not the client still waited for it; null if it never had. */
  endedAt: number | null;
  status: number | null;
}

interface RequestOptions {
  key?: string;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  idempotencyKey?: string;
  /** Chooses the delays. */
  random?: Random;
  /** Learns what becomes of the request. */
  attempt?: Partial<Attempt>;
}

const PATIENCE_MS = 30_000;
const STOPS_WITHIN_MS = 10_000;

export interface NodeDeps {
  world: World;
  store: SimulatedStore;
  config: Config;
  network: CarrierNetwork;
  customer: Customer;
  /** The process has ended, because its application could not start. */
  onFailedStart(node: SimulatedNode): void;
}

type InjectedServer = Pick<ReturnType<typeof createAppServer>["server"], "inject">;

/** One node: the whole application in a simulated process, without sockets and threads of its own. */
export class SimulatedNode {
  readonly process: SimulatedProcess;
  isReady = false;
  /** It stopped in order. */
  hasLeft = false;
  readyAt = Number.POSITIVE_INFINITY;
  pipeline: AppPipeline | null = null;
  webhooks: AppWebhooks | null = null;
  readonly #deps: NodeDeps;
  #server: InjectedServer | null = null;
  #stopInOrder: () => Promise<void> = async () => undefined;
  #stopTimers: () => void = () => {};

  constructor(name: string, deps: NodeDeps, skewMs: number) {
    this.#deps = deps;
    this.process = new SimulatedProcess(deps.world, name);
    this.process.skewMs = skewMs;
    deps.world.plan(0, this.process, () =>
      this.#start().catch((error: unknown) => {
        // The process ends, and its process manager starts another one.
        deps.world.tell(`${name} could not start: ${String(error)}`);
        this.crash();
        deps.onFailedStart(this);
      }),
    );
  }

  /** The same steps as `startApp`, with simulated time, store, carriers and endpoints. */
  async #start(): Promise<void> {
    const { config, network, customer, world } = this.#deps;
    const { process } = this;
    const base = createBase(config, {
      clock: process.clock,
      log: createLog("warn", { write: (line) => world.log(process.name, line) }),
      createSmpp: network.createFor(process),
      webhookTransport: customer.transportFor(process),
    });
    const storage = { store: withSharedCounts(await this.#openStore(), base.clock), close: async () => undefined };
    const secrets = await loadSecrets(base, storage);
    const cluster = await joinCluster(base, storage);
    const records = await loadRecords(base, storage, secrets);
    const egress = createEgress(base, records);
    const media = createAppMedia(base, storage, secrets, { files: null, folder: "", stagingFolder: "" });
    const webhooks = createWebhooks({ base, storage, secrets, cluster, records, egress });
    const carriers = createCarriers({ base, storage, cluster, records });
    const held = { gate: new SendGate(), hold: null };
    const pipeline = createPipeline({
      base,
      storage,
      secrets,
      cluster,
      records,
      egress,
      webhooks,
      carriers,
      media,
      held,
    });
    await startCarriers({ base, storage, secrets, cluster, records, egress, carriers, media, pipeline });
    const jobs = startAppJobs({
      base,
      storage,
      secrets,
      egress,
      cluster,
      records,
      webhooks,
      carriers,
      pipeline,
      media,
      smpp: null,
      backups: null,
      integrity: null,
      held: null,
      watchDisk: null,
      certificateExpiresAt: () => null,
    });
    const app = createAppServer({
      base,
      storage,
      secrets,
      cluster,
      records,
      egress,
      webhooks,
      carriers,
      pipeline,
      media,
      held,
      integrity: null,
    });
    this.#stopTimers = () => {
      app.monitoring.stop();
      pipeline.requestAge.stop();
    };
    await firstStart({ store: storage.store, keyring: records.keyring, clock: base.clock }, config);
    await records.catalog.refresh();
    app.state.setReady();
    pipeline.queues?.fetch();
    cluster.membership.onLost(() =>
      process.hadTrouble("membership", world.now - config.nodeSilentSeconds * 1000, world.now),
    );
    this.pipeline = pipeline;
    this.webhooks = webhooks;
    this.readyAt = world.now;
    this.#stopInOrder = () =>
      stopInOrder({
        smpp: null,
        server: {
          url: "",
          facadePorts: {},
          links: app.links,
          setReady: () => undefined,
          drain: async () => undefined,
          close: async () => app.state.stopping.abort(),
          stopMonitoring: () => app.monitoring.stop(),
        },
        jobs,
        backups: null,
        integrity: null,
        pipeline,
        carriers,
        webhooks,
        cluster,
        records,
        egress,
        storage,
      });
    this.#server = app.server;
    this.isReady = true;
  }

  /** The schema is up to date: this is no part of the simulation. */
  #openStore(): Promise<Store> {
    const { world, store } = this.#deps;
    return new Promise((resolve) => {
      world.plan(0, null, async () => {
        const opened = await store.openFor(this.process);
        world.plan(0, this.process, () => resolve(opened));
      });
    });
  }

  get isAlive(): boolean {
    return this.isReady && !this.process.isDead;
  }

  /** Ends the process with everything in its memory. */
  crash(): void {
    this.process.die();
    this.#stopTimers();
    this.#deps.store.disconnect(this.process);
  }

  /** Ends the process as SIGTERM does: in order, and by force if that takes too long. */
  async stop(): Promise<void> {
    const { world } = this.#deps;
    this.isReady = false;
    world.plan(STOPS_WITHIN_MS, null, () => this.crash());
    world.plan(0, this.process, async () => {
      await this.#stopInOrder();
      this.hasLeft = true;
      world.plan(0, null, () => this.crash());
    });
  }

  /** Ends what Node would keep running after the simulation. */
  dispose(): void {
    this.crash();
  }

  /** A request of a client; null if the node ends before its answer, or does not answer within the client's patience. */
  request(
    method: "GET" | "POST" | "PATCH" | "DELETE" | "PUT",
    url: string,
    options: RequestOptions,
  ): Promise<Answer | null> {
    const { world } = this.#deps;
    const { random = world.random, attempt } = options;
    if (attempt) Object.assign(attempt, { process: this.process, askedAt: world.now });
    return new Promise((resolve) => {
      world.plan(PATIENCE_MS, null, () => resolve(null));
      world.plan(random.between(0, 5), this.process, async () => {
        const server = this.#server;
        if (!server) return;
        const response = await server.inject({
          method,
          url,
          headers: {
            ...(options.key === undefined ? {} : { apikey: options.key }),
            ...options.headers,
            ...(options.body === undefined ? {} : { "content-type": "application/json" }),
            ...(options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey }),
          },
          ...(options.body === undefined ? {} : { payload: JSON.stringify(options.body) }),
        });
        const body: unknown = response.body === "" ? null : JSON.parse(response.body);
        const { statusCode: status, headers } = response;
        if (attempt) Object.assign(attempt, { endedAt: world.now, status });
        world.plan(random.between(0, 5), null, () => resolve({ status, body, headers }));
      });
    });
  }
}
