import { readFileSync } from "node:fs";
import { BadSetting } from "../config.ts";
import type { Terminal } from "./terminal.ts";

const PASSPHRASE_MIN = 12;

interface PassphraseSources {
  /** Value of `--passphrase-file`. */
  file: string | undefined;
  /** Value of HELIOGRAPH_BACKUP_PASSPHRASE. */
  setting: string | null;
}

/** The passphrase of the file, the setting or the terminal, in this order; null where none of them has one. */
async function readPassphrase({ file, setting }: PassphraseSources, terminal: Terminal): Promise<string | null> {
  if (file !== undefined) return readFile(file);
  if (setting !== null) return setting;
  return terminal.canAsk ? terminal.askSecret("Passphrase of the backup's master key:") : null;
}

/** The passphrase to open an existing backup. */
export async function askPassphrase(sources: PassphraseSources, terminal: Terminal): Promise<string> {
  const passphrase = await readPassphrase(sources, terminal);
  if (passphrase !== null && passphrase !== "") return passphrase;
  throw new BadSetting("--passphrase-file FILE or HELIOGRAPH_BACKUP_PASSPHRASE must give the passphrase of the backup");
}

/** A passphrase for a new backup: typed twice on a terminal, because a typing error would be found too late. */
export async function askNewPassphrase(sources: PassphraseSources, terminal: Terminal): Promise<string> {
  const passphrase = await readPassphrase(sources, terminal);
  if (passphrase === null)
    throw new BadSetting(
      "--passphrase-file FILE or HELIOGRAPH_BACKUP_PASSPHRASE must give the passphrase that wraps the master key; --without-key leaves the key out",
    );
  if (passphrase.length < PASSPHRASE_MIN)
    throw new BadSetting(`the passphrase has fewer than ${PASSPHRASE_MIN} characters`);
  const isTyped = sources.file === undefined && sources.setting === null;
  if (isTyped && (await terminal.askSecret("The same passphrase again:")) !== passphrase)
    throw new BadSetting("the two passphrases differ");
  return passphrase;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new BadSetting(`--passphrase-file: ${path} cannot be read`, { cause: error });
  }
}
