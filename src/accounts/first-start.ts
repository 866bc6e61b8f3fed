import { createAccount, type CreatedAccount, type CreateNeeds } from "./create-account.ts";

const ACCOUNT = "default";

/** Makes the first account, as the settings wish it; null when that has been done before. */
export async function firstStart(
  needs: CreateNeeds,
  wishes: Omit<Parameters<typeof createAccount>[1], "name">,
): Promise<CreatedAccount | null> {
  const accounts = await needs.store.listAccounts();
  if (accounts.some((account) => account.name === ACCOUNT)) {
    // Another node may have made it since the keys were read: this one must know them before it says that it is ready.
    await needs.keyring.refresh();
    return null;
  }
  return createAccount(needs, { ...wishes, name: ACCOUNT });
}
