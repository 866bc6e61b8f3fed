export interface NodeInfo {
  id: number;
  roles: readonly string[];
  startedAt: number;
  /** How long it has been silent. */
  silentMs: number;
}

/** Who is running. Times are the store's own, so that clocks of different machines need not agree. */
export interface NodeStore {
  /**
   * Registers a running process under a fresh id, with what it does. `alone`: no other process can be running, so all others
   * are dead. `sends`: whether it has a share in the lines to carriers; it does unless told otherwise.
   */
  join(options: { alone: boolean; sends?: boolean; roles?: readonly string[] }): Promise<number>;
  /** Says that the node lives; false when the others have declared it dead. */
  beat(node: number): Promise<boolean>;
  /** Declares dead who has been silent for so long; gives the dead nodes that have left waiting rows behind. */
  bury(silentMs: number): Promise<readonly number[]>;
  /** Ends a node in order: its rows are nobody's, at once. */
  leave(node: number): Promise<void>;
  countNodes(): Promise<number>;
  /** How many living nodes send, and how many of them joined before this one. */
  placeOf(node: number): Promise<{ count: number; rank: number }>;
  /** Those that live, in the order in which they came. */
  listNodes(): Promise<readonly NodeInfo[]>;
}
