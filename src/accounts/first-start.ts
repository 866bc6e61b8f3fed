import { createAccount, type CreatedAccount, type CreateNeeds } from "./create-account.ts";

const ACCOUNT = "default";

/** Makes the first account, as the settings wish it; null when that has been done before. */
export async function firstStart(
  needs: CreateNeeds,
  wishes: Omit<Parameters<typeof createAccount>[1], "name">,
): Promise<CreatedAccount | null> {
  const accounts = await needs.store.listAccounts();
  if (accounts.some((account) => account.name === ACCOUNT)) return null;
  return createAccount(needs, { ...wishes, name: ACCOUNT });
}
