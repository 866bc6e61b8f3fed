import { invalidSettings, readConfig, unknownSettings } from "../../config.ts";
import { checkBackups } from "./check-backups.ts";
import { checkAcmeSettings, checkCertificates } from "./check-certificate.ts";
import { checkDatabase } from "./check-database.ts";
import { checkIntegrity } from "./check-integrity.ts";
import { checkDataDir, checkDescriptors } from "./check-machine.ts";
import { checkPublicUrls } from "./check-network.ts";
import { checkRecords } from "./check-records.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

type Environment = Record<string, string | undefined>;

/** Examines the settings, this machine, the database and the network. Works with and without a running server. */
export async function examine(environment: Environment): Promise<Finding[]> {
  const settings = checkSettings(environment);
  // Without valid settings it is unknown what else to check.
  if (settings.some(({ status }) => status === "problem")) return [...settings, checkDescriptors()];
  const config = readConfig(environment);
  const dataDir = checkDataDir(config);
  const database = await checkDatabase(config);
  const isUsable = dataDir.every(({ status }) => status !== "problem");
  return [
    ...settings,
    ...dataDir,
    checkDescriptors(),
    ...checkCertificates(config),
    ...checkAcmeSettings(config),
    ...(await checkPublicUrls(config)),
    ...database.findings,
    ...(database.isCurrent ? checkIntegrity(config) : []),
    ...(await checkBackups(config)),
    ...(database.isCurrent && isUsable ? await guarded("records", () => checkRecords(config)) : []),
  ];
}

function checkSettings(environment: Environment): Finding[] {
  const invalid = invalidSettings(environment);
  const unknown = unknownSettings(environment);
  if (invalid.length === 0 && unknown.length === 0) return [ok("settings", "valid")];
  return [
    ...invalid.map((fault) => problem("settings", fault, "Correct or remove it; docs/configuration.md lists all.")),
    ...unknown.map((name) =>
      warning("settings", `${name} is unknown and ignored`, "Correct its name; docs/configuration.md lists all."),
    ),
  ];
}

/** A check that fails is a finding, so that the others are still shown. */
async function guarded(check: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    return [problem(check, reasonOf(error), "Repair the database first, then run this command again.")];
  }
}
