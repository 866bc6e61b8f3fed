import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { checkMasterKey, loadMasterKey, encryptEndpointSecrets, pepperOf } from "../accounts/master-key.ts";
import { openStore } from "../app/storage.ts";
import { applyConfigFile } from "../records/apply-config.ts";
import type { FieldChange } from "../records/field-changes.ts";
import { changesNothing, type ConfigPlan, type NamedRecord } from "../records/plan-config.ts";
import { BadSetting, type Config } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { countOf } from "../lib/text.ts";
import { keyDigest } from "../model/api-key.ts";
import { createSecretFactory } from "../webhooks/secrets.ts";
import { DEFAULT_ACCOUNT, noSuchAccount } from "./account-option.ts";
import { NotConfirmed } from "./not-confirmed.ts";
import { resolveReferences } from "./secret-references.ts";
import type { Terminal } from "./terminal.ts";

interface ApplyOptions {
  account?: string | undefined;
  "dry-run"?: boolean | undefined;
  yes?: boolean | undefined;
}

/** Shows the plan of a configuration file, and applies it to the account once the user has confirmed it. */
export async function applyConfig(
  config: Config,
  [path]: readonly string[],
  { account = DEFAULT_ACCOUNT, "dry-run": dryRun = false, yes = false }: ApplyOptions,
  terminal: Terminal,
  _profiles: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  if (path === undefined) throw new BadSetting("name the file: config apply FILE");
  const file = await resolveReferences(await readConfigFile(path), { env, folder: dirname(path) });
  const store = await openStore(config, systemClock);
  try {
    const masterKey = await loadMasterKey(store, config.masterKey, config.dataDir);
    await checkMasterKey(store, masterKey);
    const secrets = createSecretFactory(encryptEndpointSecrets(masterKey));
    const digestOf = (secret: string): string => keyDigest(pepperOf(masterKey), secret);
    const agree = (plan: ConfigPlan): boolean | Promise<boolean> => {
      terminal.say(describePlan(plan));
      return !dryRun && (yes || changesNothing(plan) || terminal.confirm("Apply this?"));
    };
    const isMeant = ({ name }: { name: string }): boolean => name === account;
    const changed = await applyConfigFile({ store, clock: systemClock, secrets, digestOf }, isMeant, file, agree);
    if (!changed) throw noSuchAccount(account);
    if (changed.applied) return changesNothing(changed.plan) ? "" : "Applied.";
    if (dryRun) return "Nothing was changed: this was a dry run.";
    throw new NotConfirmed(
      terminal.canAsk
        ? "nothing was changed"
        : "nothing was changed: there is no terminal to confirm it, so give --yes",
    );
  } finally {
    await store.close();
  }
}

async function readConfigFile(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new BadSetting(`${path} cannot be read: ${error.code ?? error.message}`, { cause: error });
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadSetting(`${path} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** A plan as text: + is created, ~ is changed, - is removed. */
export function describePlan(plan: ConfigPlan): string {
  const { settings, made, changed, removed, same } = plan;
  if (changesNothing(plan)) return `Nothing to change: ${countOf(same.length, "record")} as in the file.`;
  return [
    ...made.map((record) => `+ ${nameOf(record)}`),
    ...changed.flatMap((record) => [`~ ${nameOf(record)}`, ...record.fields.map(lineOf)]),
    ...removed.map((record) => `- ${nameOf(record)}`),
    ...(settings.length > 0 ? ["~ settings", ...settings.map(lineOf)] : []),
    "",
    `${made.length} to create, ${changed.length} to change, ${removed.length} to remove, ${countOf(settings.length, "setting")} to change; ${same.length} unchanged.`,
  ].join("\n");
}

const nameOf = ({ part, channel, name }: NamedRecord): string =>
  [part, ...(channel ? [channel] : []), JSON.stringify(name)].join(" ");

const lineOf = ({ field, from, to }: FieldChange): string =>
  `    ${field}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`;
