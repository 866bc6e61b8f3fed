import { readFileSync } from "node:fs";
import { BadSetting, type Config } from "../config.ts";
import { createGuardedClient } from "../egress/guarded-connect.ts";
import type { WebhookPlanner } from "../pipeline/group-commit.ts";
import { operatorCircle, readOperatorTable, type OperatorTable } from "../pipeline/policy/operator.ts";
import { UNOWNED } from "../store/store.ts";
import { WebhookDispatcher, type WebhookDispatcherDeps } from "../webhooks/dispatcher.ts";
import { createWebhookPlanner } from "../webhooks/plan.ts";
import { TransportThread } from "../webhooks/transport/thread.ts";
import { createWebhookTransport, type WebhookTransport } from "../webhooks/transport/transport.ts";
import type { AppBase } from "./base.ts";
import type { AppCluster } from "./cluster.ts";
import type { AppEgress } from "./egress.ts";
import { createFacadeDeliveries, type AppFacadeDeliveries } from "./facades.ts";
import type { AppRecords } from "./records.ts";
import type { AppSecrets } from "./secrets.ts";
import { createSmppBinds, type AppSmppBinds } from "./smpp-server.ts";
import type { AppStorage } from "./storage.ts";

export interface AppWebhooks {
  deps: WebhookDispatcherDeps;
  transport: WebhookTransport;
  /** Null on a node without the role callbacks: it plans webhooks for other nodes to deliver. */
  dispatcher: WebhookDispatcher | null;
  planner: WebhookPlanner;
  smpp: AppSmppBinds;
  facades: AppFacadeDeliveries;
}

interface CreateWebhooksDeps {
  base: AppBase;
  storage: AppStorage;
  secrets: AppSecrets;
  cluster: AppCluster;
  records: AppRecords;
  egress: AppEgress;
}

export function createWebhooks({ base, storage, secrets, cluster, records, egress }: CreateWebhooksDeps): AppWebhooks {
  const { config, clock, log, metrics } = base;
  const { catalog, accountOf, keyring } = records;
  const { membership, stats } = cluster;
  const transport = createTransport(base, egress);
  const operators = loadOperators(config);
  const encryption = secrets.endpointSecrets;
  const smpp = createSmppBinds(base);
  const facades = createFacadeDeliveries({ keyring, transport, clock, encryption, smpp: smpp.delivery });
  const { facadeOf, inboundSubscribers } = facades;
  const deps: WebhookDispatcherDeps = {
    store: storage.store,
    catalog,
    membership,
    transport,
    clock,
    log,
    metrics,
    figures: stats,
    accountOf,
    encryption,
    facadeOf,
    operatorOf: (number, reported) => operatorCircle(number, operators, reported),
  };
  const dispatcher = config.roles.includes("callbacks") ? new WebhookDispatcher(deps) : null;
  const planner = createWebhookPlanner(
    { catalog, clock, inboundSubscribers, webhookDispatcher: () => (dispatcher ? membership.node : UNOWNED) },
    dispatcher,
  );
  return { deps, transport, dispatcher, planner, smpp, facades };
}

/** Sends in a thread of its own, except in tests with a clock of their own: a thread could not share that. */
function createTransport({ overrides, clock, log }: AppBase, { rules, opened }: AppEgress): WebhookTransport {
  if (overrides.webhookTransport) return overrides.webhookTransport;
  return overrides.clock
    ? createWebhookTransport(createGuardedClient({ rules, clock }), clock)
    : new TransportThread({ opened, log });
}

/** Reads the operator's table of mobile networks and circles by number prefix. */
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
