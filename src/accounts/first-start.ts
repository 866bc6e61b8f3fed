import { EmailTaken } from "../model/user.ts";
import { createAccount, type CreatedAccount, type CreateAccountDeps } from "./create-account.ts";

const ACCOUNT = "default";

/** Creates the first account from the settings; null if it exists. */
export async function firstStart(
  deps: CreateAccountDeps,
  wanted: Omit<Parameters<typeof createAccount>[1], "name">,
): Promise<CreatedAccount | null> {
  const accounts = await deps.store.listAccounts();
  if (accounts.some((account) => account.name === ACCOUNT)) {
    // Another node may have created it since keys were read. This node must know them before it reports ready.
    await deps.keyring.refresh();
    return null;
  }
  return createAccount(deps, { ...wanted, name: ACCOUNT }).catch((error: unknown) => {
    if (!(error instanceof EmailTaken)) throw error;
    throw new Error(`HELIOGRAPH_ADMIN_EMAIL: ${error.message}; set another`, { cause: error });
  });
}
