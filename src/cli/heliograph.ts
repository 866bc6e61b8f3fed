import { parseArgs } from "node:util";
import { BadSetting, readConfig } from "../config.ts";
import { addAccount } from "./add-account.ts";

/** The operator's door: one file per command. */
const COMMANDS = {
  "account add": {
    usage: "account add NAME [--email OWNER@EXAMPLE.COM]",
    meaning:
      "makes an account with its owner and keys, and prints their secrets once; a running server knows it within seconds",
    run: addAccount,
  },
};

const usage = (): string =>
  [
    "Usage: npm run heliograph -- COMMAND",
    "",
    ...Object.values(COMMANDS).map(({ usage: words, meaning }) => `  ${words}\n      ${meaning}`),
    "",
  ].join("\n");

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { email: { type: "string" }, help: { type: "boolean" } },
  });
  const command = COMMANDS[positionals.slice(0, 2).join(" ") as keyof typeof COMMANDS];
  if (values.help || !command) {
    process.stdout.write(usage());
    process.exitCode = values.help ? 0 : 2;
  } else {
    process.stdout.write(`${await command.run(readConfig(process.env), positionals.slice(2), values)}\n`);
  }
} catch (error) {
  process.stderr.write(`heliograph: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof BadSetting ? 2 : 1;
}
