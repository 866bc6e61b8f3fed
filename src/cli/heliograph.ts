import { parseArgs } from "node:util";
import { BadSetting, readConfig } from "../config.ts";
import { Problem } from "../model/problem.ts";
import { NotConfirmed } from "./not-confirmed.ts";
import { openTerminal } from "./terminal.ts";

/** The operator's door: one file per command, loaded when it is asked for, because some need the whole house. */
const COMMANDS = {
  "account add": {
    usage: "account add NAME [--email OWNER@EXAMPLE.COM]",
    meaning:
      "makes an account with its owner and keys, and prints their secrets once; a running server knows it within seconds",
    load: async () => (await import("./add-account.ts")).addAccount,
  },
  "config export": {
    usage: "config export [--account NAME]",
    meaning: "prints the settings and records of an account as a file to keep in a repository",
    load: async () => (await import("./config-export.ts")).exportConfig,
  },
  "config apply": {
    usage: "config apply FILE [--dry-run] [--yes] [--account NAME]",
    meaning:
      "makes an account what such a file says, after showing what that means and asking; a running server knows it within seconds",
    load: async () => (await import("./config-apply.ts")).applyConfig,
  },
  listen: {
    usage: "listen --forward-to URL [--key KEY] [--url http://127.0.0.1:8080] [--account NAME]",
    meaning:
      "prints what webhooks and delivery reports of the key's account are told by a running server, and tells it to URL as well, signed with a secret of its own",
    load: async () => (await import("./listen.ts")).listen,
  },
  smsc: {
    usage: "smsc [--port 2775] [--host 127.0.0.1] [--set NAME=VALUE]... [--tls-cert FILE --tls-key FILE]",
    meaning:
      "a simulated SMSC for whatever speaks SMPP: the last four digits of a number script its fate, and it misbehaves as it is told",
    load: async () => (await import("./smsc.ts")).smsc,
  },
};

const EXITS = [
  [0, "done, or nothing to do"],
  [1, "failed, and may pass: the database or the server is away"],
  [2, "asked for what cannot be: a wrong command, an unknown account, a file with faults"],
  [3, "not confirmed, so nothing was changed"],
] as const;

const usage = (): string =>
  [
    "Usage: npm run heliograph -- COMMAND",
    "",
    ...Object.values(COMMANDS).map(({ usage: words, meaning }) => `  ${words}\n      ${meaning}`),
    "",
    "Exit codes:",
    ...EXITS.map(([code, meaning]) => `  ${code}   ${meaning}`),
    "",
  ].join("\n");

function exitCodeOf(error: unknown): number {
  if (error instanceof NotConfirmed) return 3;
  if (error instanceof Problem) return error.status < 500 ? 2 : 1;
  return error instanceof BadSetting || isBadOption(error) ? 2 : 1;
}

const isBadOption = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith("ERR_PARSE_ARGS");

/** What is wrong, line by line where it is many things. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof Problem) || error.faults.length === 0) return error.message;
  const faults = error.faults.map(({ parameter, message }) => `\n  ${parameter || "all of it"}: ${message}`);
  return `the file has faults, and nothing was changed${faults.join("")}`;
}

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      email: { type: "string" },
      account: { type: "string" },
      "forward-to": { type: "string" },
      url: { type: "string" },
      key: { type: "string" },
      host: { type: "string" },
      port: { type: "string" },
      set: { type: "string", multiple: true },
      "tls-cert": { type: "string" },
      "tls-key": { type: "string" },
      "dry-run": { type: "boolean" },
      yes: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  const command = COMMANDS[positionals.slice(0, 2).join(" ") as keyof typeof COMMANDS];
  if (values.help || !command) {
    process.stdout.write(usage());
    process.exitCode = values.help ? 0 : 2;
  } else {
    const terminal = openTerminal(process.stdin, process.stdout);
    const run = await command.load();
    const told = await run(readConfig(process.env), positionals.slice(2), values, terminal);
    if (told !== "") process.stdout.write(`${told}\n`);
  }
} catch (error) {
  process.stderr.write(`heliograph: ${explain(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
