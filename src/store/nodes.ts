import { IS_WAITING } from "./rows.ts";

export interface NodeInfo {
  id: number;
  roles: readonly string[];
  startedAt: number;
  /** Time since the last heartbeat. */
  silentMs: number;
}

/** Running processes. Times come from the store, so clock skew between machines does not matter. */
export interface NodeStore {
  /**
   * Registers a running process under a new id, with its roles. `alone`: no other process can be running, so all others are
   * dead. `sends`: the node takes a share of the carrier connections (default true).
   */
  join(options: { alone: boolean; sends?: boolean; roles?: readonly string[] }): Promise<number>;
  /** Heartbeat; false when other nodes have declared this node dead. */
  beat(node: number): Promise<boolean>;
  /** Declares nodes dead after `silentMs` without a heartbeat; returns the dead nodes that left waiting rows. */
  expireNodes(silentMs: number): Promise<readonly number[]>;
  /** Shuts a node down and releases its rows at once. The node counts as dead, so that rows it commits later are found. */
  leave(node: number): Promise<void>;
  countNodes(): Promise<number>;
  /** The number of living nodes that send, and of those that joined before this one. */
  placeOf(node: number): Promise<{ count: number; rank: number }>;
  /** Living nodes, in the order in which they joined. */
  listNodes(): Promise<readonly NodeInfo[]>;
}

/** True if a node has left waiting messages or callbacks behind. */
export const HAS_WORK = `(exists (select 1 from messages where owner = nodes.id and ${IS_WAITING})
  or exists (select 1 from callbacks where owner = nodes.id and state = 'waiting'))`;

/** Counts the living nodes that send, and those that joined before a given node. */
export const PLACE = `select count(*) as count, coalesce(sum(case when id < ? then 1 else 0 end), 0) as rank
  from nodes where dead = 0 and sends = 1`;

/** Retention of a dead node without waiting rows. A suspended process resumes before that. */
export const DEAD_NODE_KEPT_MS = 86_400_000;
