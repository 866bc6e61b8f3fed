/** What a row is known by in memory: its account, and what is unique within it. */
export const rowKey = (accountId: number, ...names: readonly (string | number)[]): string =>
  [accountId, ...names].join(" ");
