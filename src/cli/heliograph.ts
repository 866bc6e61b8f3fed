import { parseArgs } from "node:util";
import { BadSetting, readConfig } from "../config.ts";
import { buildInfo, PROGRAM, versionLine } from "../build-info.ts";
import { Problem } from "../model/problem.ts";
import { COMMANDS, OPTIONS } from "./commands.ts";
import { nearestCommand, nearestOption } from "./nearest-command.ts";
import { NotConfirmed } from "./not-confirmed.ts";
import { profilesFile } from "./remote/profiles.ts";
import { openTerminal } from "./terminal.ts";

const EXITS = [
  [0, "done, or nothing to do"],
  [1, "failed, and may succeed later: the database or the server is unavailable"],
  [2, "invalid: a wrong command, an unknown account, a file with faults"],
  [3, "not confirmed, so nothing was changed"],
] as const;

type Command = (typeof COMMANDS)[keyof typeof COMMANDS];

const usage = (commands: readonly Command[]): string =>
  [
    `Usage: ${PROGRAM} [COMMAND]`,
    "",
    ...commands.map(({ usage: line, meaning }) => `  ${line}\n      ${meaning}`),
    "",
    ...(commands.some(talksToServer)
      ? ["Commands that talk to a server take --profile NAME, or --url and --key, and --json for programs.", ""]
      : []),
    "Exit codes:",
    ...EXITS.map(([code, meaning]) => `  ${code}   ${meaning}`),
    "",
  ].join("\n");

function exitCodeOf(error: unknown): number {
  if (error instanceof NotConfirmed) return 3;
  if (error instanceof Problem) return error.status < 500 ? 2 : 1;
  return error instanceof BadSetting || isBadOption(error) ? 2 : 1;
}

/** Other names that people try first. */
const SYNONYMS: Readonly<Record<string, keyof typeof COMMANDS>> = {
  accounts: "account list",
  "accounts list": "account list",
  "accounts add": "account add",
  keys: "keys list",
};

/** The command that the first two words name, or the first one where that is a command with arguments. */
function findCommand(words: readonly string[]) {
  if (words.length === 0) return { command: COMMANDS.start, args: [] };
  for (const length of [2, 1]) {
    const given = words.slice(0, length).join(" ");
    const name = Object.hasOwn(SYNONYMS, given) ? SYNONYMS[given] : given;
    const args = words.slice(length);
    if (name === undefined || !Object.hasOwn(COMMANDS, name)) continue;
    const command = COMMANDS[name as keyof typeof COMMANDS];
    // `listen http://…` has no such argument: it is refused with the usage rather than ignored.
    if (length === 2 || args.length === 0 || takesArguments(command)) return { command, args };
  }
  return null;
}

/** Commands of one word whose usage names an argument next. */
const takesArguments = ({ usage: line }: { usage: string }): boolean => /^[a-z]+ [A-Z]/.test(line);

/** Error for an unknown command, with the nearest one. */
function refuseCommand(words: readonly string[]): string {
  const seeAll = `${PROGRAM} --help shows all commands`;
  const nearest = nearestCommand(words, Object.keys(COMMANDS)) as keyof typeof COMMANDS | null;
  const meant = nearest === null ? "" : `\nDid you mean this?\n  ${COMMANDS[nearest].usage}`;
  return `unknown command: ${words.join(" ")}${meant}\n${seeAll}\n`;
}

/** A command that reads its server from the options. */
const talksToServer = ({ options }: Command): boolean => (options as readonly string[]).includes("profile");

/** An option of another command would be ignored, although its user counts on it. */
function refuseOtherOptions({ usage: line, options }: Command, given: readonly string[]): void {
  const own: readonly string[] = options;
  const other = given.find((option) => !own.includes(option));
  if (other === undefined) return;
  const [name] = line.split(/ (?=[A-Z[-])/, 1);
  throw new BadSetting(`${name} has no option --${other}\n  ${line}`);
}

const isBadOption = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith("ERR_PARSE_ARGS");

/** The error text; several faults are one line each. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [, option] = isBadOption(error) ? (/^Unknown option '--?([^']+)'/.exec(error.message) ?? []) : [];
  if (option !== undefined) {
    const command = findCommand(process.argv.slice(2).filter((word) => !word.startsWith("-")))?.command;
    const nearest = nearestOption(option, command?.options ?? Object.keys(OPTIONS));
    return `unknown option: --${option}${nearest === null ? "" : `\nDid you mean --${nearest}?`}`;
  }
  if (!(error instanceof Problem) || error.faults.length === 0) return error.message;
  const faults = error.faults.map(({ parameter, message }) => `\n  ${parameter || "all of it"}: ${message}`);
  return `the file has faults, and nothing was changed${faults.join("")}`;
}

// `heliograph tail | head` ends with its reader.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

try {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const found = findCommand(positionals);
  if (values.help) {
    process.stdout.write(usage(found && positionals.length > 0 ? [found.command] : Object.values(COMMANDS)));
  } else if (values.version) {
    process.stdout.write(`heliograph ${versionLine(buildInfo)}\n`);
  } else if (!found) {
    process.stderr.write(`heliograph: ${refuseCommand(positionals)}`);
    process.exitCode = 2;
  } else {
    refuseOtherOptions(found.command, Object.keys(values));
    process.umask(0o077);
    const terminal = openTerminal(process.stdin, process.stdout);
    const run = await found.command.load();
    // The doctor reads the settings itself, to report all faults.
    const config = readConfig(found.command === COMMANDS.doctor ? {} : process.env);
    const output = await run(config, found.args, values, terminal, profilesFile(process.env), process.env);
    if (output !== "") process.stdout.write(`${output}\n`);
  }
} catch (error) {
  process.stderr.write(`heliograph: ${explain(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
