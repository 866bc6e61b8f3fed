import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const ON_A_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** Path of the browser. The headless shell has no window code and takes an eighth less CPU. */
export function chromium(): string | undefined {
  const named = process.env["HELIOGRAPH_CHROMIUM"];
  if (named) return executable(named);
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  return names.map(inPath).find((path) => path !== undefined) ?? executable(ON_A_MAC);
}

export function inPath(programme: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/sbin"];
  return folders.map((folder) => executable(join(folder, programme))).find((path) => path !== undefined);
}

/** Folder of Debian's package of Twilio's Python library. */
export function debianTwilio(): string | undefined {
  const folder = "/usr/lib/python3/dist-packages/twilio";
  return existsSync(folder) ? folder : undefined;
}

/** Folder of Debian's package of the mail server aiosmtpd. */
export function debianSmtp(): string | undefined {
  const folder = "/usr/lib/python3/dist-packages/aiosmtpd";
  return existsSync(folder) ? folder : undefined;
}

/** Debian's package of Kannel's client for Perl. */
export function debianNetSds(): string | undefined {
  const file = "/usr/share/perl5/NetSDS/Kannel.pm";
  return existsSync(file) ? file : undefined;
}

/** Module of Debian's package of Net::SMPP. */
export function debianNetSmpp(): string | undefined {
  const module = "/usr/share/perl5/Net/SMPP.pm";
  return existsSync(module) ? module : undefined;
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    // Missing and not executable are the same to the caller.
    return undefined;
  }
}

/**
 * True if the tests that need a tool can run. A test that is left out in a workflow would look like one that passed, so
 * HELIOGRAPH_TEST_REQUIRE_TOOLS=1, which the workflows set, makes a missing tool an error.
 */
export function canTestWith(found: unknown, needs: string): boolean {
  if (found) return true;
  if (process.env["HELIOGRAPH_TEST_REQUIRE_TOOLS"] === "1")
    throw new Error(`tests need ${needs}, and HELIOGRAPH_TEST_REQUIRE_TOOLS demands them`);
  process.stderr.write(`Left out: tests that need ${needs}\n`);
  return false;
}
