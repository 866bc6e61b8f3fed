import { createAccount } from "../accounts/create-account.ts";
import { Keyring } from "../accounts/keyring.ts";
import { checkMasterKey, deriveKey, loadMasterKey } from "../accounts/master-key.ts";
import { openStore } from "../app/storage.ts";
import { BadSetting, type Config } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { EmailTaken, readEmail } from "../model/user.ts";
import { secretsOf } from "../app/welcome.ts";

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** Makes an account beside those that are there. */
export async function addAccount(
  config: Config,
  [name = ""]: readonly string[],
  { email }: { email?: string | undefined },
): Promise<string> {
  if (!NAME.test(name)) throw new BadSetting("NAME has 1 to 63 lower-case letters, digits, dashes and underscores");
  const adminEmail = readEmail(email ?? `${name}@localhost`);
  if (adminEmail === null) throw new BadSetting("--email must be an email address, such as ann@example.com");
  const store = await openStore(config, systemClock);
  try {
    const masterKey = await loadMasterKey(store, config.masterKey, config.dataDir);
    await checkMasterKey(store, masterKey);
    const keyring = new Keyring({ store, clock: systemClock }, deriveKey(masterKey, "api keys"));
    const request = { name, adminEmail, adminPassword: null, apiKey: null, testApiKey: null };
    const created = await createAccount({ store, keyring, clock: systemClock }, request);
    if (!created) throw new BadSetting(`there is an account ${name} already`);
    return `This is shown once; keep it.\n\n${secretsOf(created)}`;
  } catch (error) {
    if (!(error instanceof EmailTaken)) throw error;
    throw new BadSetting(`--email: ${error.message}; give another, nothing was created`, { cause: error });
  } finally {
    await store.close();
  }
}
