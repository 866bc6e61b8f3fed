/** Map key of a row: its account and the values that are unique within the account. */
export const rowKey = (accountId: number, ...names: readonly (string | number)[]): string =>
  [accountId, ...names].join(" ");
