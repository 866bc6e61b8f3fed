import { Membership } from "../cluster/membership.ts";
import { Live } from "../stats/live.ts";
import { Stats } from "../stats/stats.ts";
import type { AppBase } from "./base.ts";
import type { AppStorage } from "./storage.ts";

export interface AppCluster {
  membership: Membership;
  /** False on a node without the role dispatch. */
  sends: boolean;
  stats: Stats;
  live: Live;
}

/** Joins the nodes that share the store: from here on this node has an id, under which it owns rows and counts. */
export async function joinCluster({ config, clock, log }: AppBase, { store }: AppStorage): Promise<AppCluster> {
  const sends = config.roles.includes("dispatch");
  const membership = new Membership(
    { store, clock, log },
    { alone: store.engine === "sqlite", silentMs: config.nodeSilentSeconds * 1000, sends, roles: config.roles },
  );
  await membership.join();
  return {
    membership,
    sends,
    stats: new Stats({ store, clock, log }),
    live: new Live({ store, membership, clock, log }),
  };
}
