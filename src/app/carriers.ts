import {
  createConnection,
  testConnection,
  type AccountLookup,
  type ConnectionDeps,
} from "../carriers/create-connection.ts";
import type { Carrier, ConnectionTest } from "../carriers/carrier.ts";
import { openCarriers, type OpenCarriers, type LiveSettings } from "../carriers/open-carriers.ts";
import { rememberIdForms } from "../carriers/remember-id-forms.ts";
import { SimulatorCarrier } from "../carriers/simulator/carrier.ts";
import { createSmppCarrier } from "../carriers/smpp/carrier.ts";
import { createOpenAddress } from "../egress/open-address.ts";
import { callbackPath, carrierNameOf, type CatalogRecord, type RealCarrierContent } from "../model/catalog.ts";
import { CALM } from "../model/phone.ts";
import { receivePart } from "../pipeline/inbound/reassemble.ts";
import { receive } from "../pipeline/inbound/receive.ts";
import { handleLateAnswer } from "../pipeline/receipts/late-answer.ts";
import { receiveReceipt } from "../pipeline/receipts/receive-receipt.ts";
import { syncStatus } from "../pipeline/sync-templates.ts";
import type { AppBase } from "./base.ts";
import type { AppCluster } from "./cluster.ts";
import type { AppEgress } from "./egress.ts";
import { createFileTransfer } from "../egress/file-transfer.ts";
import { createCarrierMedia } from "../media/hand-over.ts";
import type { AppMedia } from "./media.ts";
import type { AppPipeline } from "./pipeline.ts";
import type { AppRecords } from "./records.ts";
import type { AppSecrets } from "./secrets.ts";
import type { AppStorage } from "./storage.ts";

export interface AppCarriers {
  simulator: SimulatorCarrier;
  connections: OpenCarriers;
  factory: ConnectionFactory;
}

/**
 * Creates the connections to carriers. The pipeline sends through connections, and connections report to the pipeline, so the
 * pipeline is created between the two steps of this file. `setDeps` then closes the circle, before the first connection opens.
 */
class ConnectionFactory {
  #deps: ConnectionDeps | null = null;

  setDeps(deps: ConnectionDeps): void {
    this.#deps = deps;
  }

  readonly create = (record: CatalogRecord<"carrier">, live: LiveSettings): Carrier =>
    createConnection(this.#requireDeps(), record, live);

  readonly test = (content: RealCarrierContent): Promise<ConnectionTest | null> =>
    testConnection(this.#requireDeps(), content);

  #requireDeps(): ConnectionDeps {
    if (!this.#deps) throw new Error("no carrier connection can be created before setDeps");
    return this.#deps;
  }
}

interface CreateCarriersDeps {
  base: AppBase;
  storage: AppStorage;
  cluster: AppCluster;
  records: AppRecords;
}

/** Creates the simulator and an empty set of connections. */
export function createCarriers({ base, storage, cluster, records }: CreateCarriersDeps): AppCarriers {
  const { clock, log } = base;
  const { membership } = cluster;
  const { catalog, accountOf } = records;
  const simulator = new SimulatorCarrier({
    store: storage.store,
    clock,
    log,
    chaosOf: (accountId, carrier) =>
      catalog.of(accountId).named("carrier").get(carrierNameOf(carrier))?.content.chaos ??
      accountOf(accountId)?.settings.chaos ??
      CALM,
  });
  const factory = new ConnectionFactory();
  const connections = openCarriers({
    simulator,
    records: () => catalog.all("carrier"),
    create: factory.create,
    nodeRank: () => (membership.sends ? membership : null),
    log,
  });
  return { simulator, connections, factory };
}

interface StartCarriersDeps extends CreateCarriersDeps {
  secrets: AppSecrets;
  egress: AppEgress;
  carriers: AppCarriers;
  media: AppMedia;
  pipeline: AppPipeline;
}

/** Opens a connection for each carrier record, follows changes of the records, and hands receipts to the pipeline. */
export async function startCarriers(deps: StartCarriersDeps): Promise<void> {
  const { cluster, records, pipeline } = deps;
  const { simulator, connections, factory } = deps.carriers;
  const connectionDeps = await createConnectionDeps(deps);
  factory.setDeps(connectionDeps);
  const onRecordsChanged = (): void => {
    connections.refresh();
    pipeline.simulatedLive.refresh();
  };
  records.catalog.onChange(onRecordsChanged);
  onRecordsChanged();
  simulator.setUserHandlers(connectionDeps.onInbound, (receipt) => receiveReceipt(pipeline.dispatchDeps, receipt));
  await connections.start((receipt) => receiveReceipt(pipeline.dispatchDeps, receipt), { sends: cluster.sends });
}

async function createConnectionDeps(deps: StartCarriersDeps): Promise<ConnectionDeps> {
  const { base, storage, secrets, egress, carriers, pipeline } = deps;
  const { clock, log, metrics, urls, overrides } = base;
  return {
    idFormMemory: await rememberIdForms({ store: storage.store, clock, log }),
    simulator: carriers.simulator,
    createSmpp: overrides.createSmpp ?? createSmppCarrier,
    decrypt: secrets.endpointSecrets.decrypt,
    callbackUrlOf: (recordId) => urls.base() + callbackPath(recordId),
    account: (accountId) => accountLookup(deps, accountId),
    egress: egress.client,
    addressOf: createOpenAddress({ rules: egress.rules, clock }),
    media: createCarrierMedia({
      store: storage.store,
      library: deps.media.library,
      tokens: deps.media.tokens,
      transfer: createFileTransfer({ rules: egress.rules, clock }),
      clock,
      baseUrl: urls.base,
    }),
    onInbound: (inbound) => receive(pipeline.receiveDeps, inbound),
    onInboundPart: (part) => receivePart(pipeline.receiveDeps, part),
    onLateAnswer: (late) => handleLateAnswer(pipeline.dispatchDeps, late),
    clock,
    log,
    metrics,
  };
}

/** Answers a connection's questions about its account from the current records, which change while it is open. */
function accountLookup({ base, storage, records, pipeline }: StartCarriersDeps, accountId: number): AccountLookup {
  const { clock } = base;
  const { store } = storage;
  const { catalog } = records;
  const account = () => catalog.of(accountId);
  return {
    phoneNumberOf: (from) => account().named("number").get(from)?.content.phoneNumberId ?? null,
    templateOf: (name) => account().named("chatTemplate").get(name)?.content ?? null,
    agentOf: (botId) => account().named("bot").get(botId)?.content.agentId ?? botId,
    botOf: (agentId) => {
      for (const { name, content } of account().named("bot").values()) if (content.agentId === agentId) return name;
      return agentId;
    },
    messageOf: async (carrier, carrierMessageId) => {
      const [found] = await store.findSubmissions([{ carrier, carrierMessageId }]);
      return found ?? null;
    },
    onTemplateStatus: (status) => syncStatus({ store, catalog, clock }, accountId, status),
    onOptOut: async (number, at) => {
      await store.addOptOuts([{ accountId, number, source: "reply", note: "by the phone's menu", createdAt: at }]);
      await pipeline.stopGuard.waitUntilEffective({ accountId, numbers: [number] });
    },
    onOptIn: async (number, at) => void (await store.removeOptOut(accountId, number, at)),
  };
}
