import type { Catalog } from "./catalog/catalog.ts";
import type { AccountLookup } from "./carriers/create-line.ts";
import type { Clock } from "./lib/clock.ts";
import { keepStatus } from "./messages/keep-templates.ts";
import type { Store } from "./store/store.ts";

interface Needs {
  store: Store;
  catalog: Catalog;
  clock: Clock;
}

/** What the lines of an account ask about it: each time anew, because records change under a line. */
export function accountLookup({ store, catalog, clock }: Needs, accountId: number): AccountLookup {
  const records = () => catalog.of(accountId);
  return {
    phoneNumberOf: (from) => records().named("number").get(from)?.content.phoneNumberId ?? null,
    templateOf: (name) => records().named("chatTemplate").get(name)?.content ?? null,
    agentOf: (botId) => records().named("bot").get(botId)?.content.agentId ?? botId,
    botOf: (agentId) => {
      for (const { name, content } of records().named("bot").values()) if (content.agentId === agentId) return name;
      return agentId;
    },
    messageOf: async (carrier, carrierMessageId) => {
      const [found] = await store.findSubmissions([{ carrier, carrierMessageId }]);
      return found ?? null;
    },
    onTemplateStatus: (news) => keepStatus({ store, catalog, clock }, accountId, news),
    onOptOut: (number, at) =>
      store.addOptOuts([{ accountId, number, source: "reply", note: "by the phone's menu", createdAt: at }]),
    onOptIn: async (number, at) => void (await store.removeOptOut(accountId, number, at)),
  };
}
