import type { Config } from "../config.ts";
import type { Terminal } from "./terminal.ts";

/** Options of every command that talks to a server. */
const SERVER = ["profile", "url", "key", "json"] as const;

export const OPTIONS = {
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
  "passphrase-file": { type: "string" },
  "data-dir": { type: "string" },
  waiting: { type: "string" },
  "in-doubt": { type: "string" },
  list: { type: "boolean" },
  send: { type: "string", multiple: true },
  drop: { type: "string", multiple: true },
  "send-campaign": { type: "string", multiple: true },
  "drop-campaign": { type: "string", multiple: true },
  "without-key": { type: "boolean" },
  "dry-run": { type: "boolean" },
  yes: { type: "boolean" },
  json: { type: "boolean" },
  profile: { type: "string" },
  sender: { type: "string" },
  type: { type: "string" },
  wait: { type: "boolean" },
  config: { type: "string" },
  channel: { type: "string" },
  name: { type: "string" },
  scopes: { type: "string" },
  mode: { type: "string" },
  messages: { type: "string" },
  concurrency: { type: "string" },
  help: { type: "boolean" },
  version: { type: "boolean" },
} as const;

/** All commands. Each is loaded when it is used, because some load the whole application. */
export const COMMANDS = {
  start: {
    usage: "start",
    options: [],
    meaning: "starts the server; also without a command",
    load: async () => startServer,
  },
  "account add": {
    usage: "account add NAME [--email OWNER@EXAMPLE.COM]",
    options: ["email"],
    meaning:
      "creates an account with its owner and keys, and prints their secrets once; a running server knows it within seconds",
    load: async () => (await import("./add-account.ts")).addAccount,
  },
  "account list": {
    usage: "account list [--json]",
    options: ["json"],
    meaning: "prints the accounts",
    load: async () => (await import("./list-accounts.ts")).listAccounts,
  },
  "config export": {
    usage: "config export [--account NAME]",
    options: ["account"],
    meaning: "prints the settings and records of an account as a file to keep in a repository",
    load: async () => (await import("./config-export.ts")).exportConfig,
  },
  "config plan": {
    usage: "config plan FILE [--account NAME]",
    options: ["account"],
    meaning: "prints the changes that applying such a file would make",
    load: async () => planConfig,
  },
  "config apply": {
    usage: "config apply FILE [--dry-run] [--yes] [--account NAME]",
    options: ["dry-run", "yes", "account"],
    meaning:
      "applies such a file to an account after showing and confirming the changes; a running server knows them within seconds",
    load: async () => (await import("./config-apply.ts")).applyConfig,
  },
  "database compact": {
    usage: "database compact",
    options: [],
    meaning:
      "rewrites the SQLite file of a stopped server without the space of deleted rows; needs free space for two copies of the rest, and says so if it is not there",
    load: async () => (await import("./compact-database.ts")).compactDatabase,
  },
  doctor: {
    usage: "doctor [--json]",
    options: ["json"],
    meaning:
      "checks settings, data directory, database, clock, file descriptors, names and outgoing connections, with or without a running server; prints what to do, and ends with exit code 1 if there is a problem",
    load: async () => reportHealth,
  },
  backup: {
    usage: "backup DIR|s3://BUCKET/PREFIX [--passphrase-file FILE] [--without-key]",
    options: ["passphrase-file", "without-key"],
    meaning:
      "writes a verified backup of the SQLite database into a new folder in DIR or in a bucket, while the server runs, with the master key wrapped by a passphrase: of the file, of HELIOGRAPH_BACKUP_PASSPHRASE, or asked for",
    load: async () => (await import("./backup.ts")).backup,
  },
  restore: {
    usage: "restore BACKUP [--data-dir DIR] [--passphrase-file FILE]",
    options: ["data-dir", "passphrase-file"],
    meaning:
      "verifies a backup, a folder or an s3:// address, and puts it into a data directory without a database; the server then starts held, and sends nothing until it is resumed",
    load: async () => (await import("./restore.ts")).restore,
  },
  hold: {
    usage: "hold",
    options: [],
    meaning:
      "holds the service as after a restore: for a PostgreSQL database that pg_restore has brought back, before the nodes start",
    load: async () => (await import("./hold.ts")).hold,
  },
  resume: {
    usage:
      "resume [--list [--json]] [--waiting send|drop] [--in-doubt send|drop] [--send ID]... [--drop ID]... [--send-campaign NAME]... [--drop-campaign NAME]...",
    options: ["list", "json", "waiting", "in-doubt", "send", "drop", "send-campaign", "drop-campaign"],
    meaning:
      "counts the messages that may have been sent since the backup, asks what becomes of them, and ends the hold; --list shows each and changes nothing, and the last four options decide about single messages and campaigns",
    load: async () => (await import("./hold.ts")).resume,
  },
  migrate: {
    usage: "migrate [--data-dir DIR]",
    options: ["data-dir"],
    meaning:
      "copies the SQLite database of a stopped server into the empty PostgreSQL database of HELIOGRAPH_DATABASE_URL, all or nothing, and compares every row",
    load: async () => (await import("./migrate.ts")).migrate,
  },
  listen: {
    usage: "listen --forward-to URL [--key KEY] [--url http://127.0.0.1:8080] [--account NAME]",
    options: ["forward-to", "profile", "key", "url", "account"],
    meaning:
      "prints the events of the key's account that a running server sends to webhooks and delivery reports, and forwards them to URL, signed with a secret of its own",
    load: async () => (await import("./listen.ts")).listen,
  },
  "profile add": {
    usage: "profile add NAME [--url http://127.0.0.1:8080] [--key KEY]",
    options: ["url", "key"],
    meaning: "keeps the address of a server and an API key in a file of yours, and makes them those of later commands",
    load: async () => (await import("./remote/manage.ts")).addProfile,
  },
  "profile use": {
    usage: "profile use NAME",
    options: [],
    meaning: "changes to another profile",
    load: async () => (await import("./remote/manage.ts")).useProfile,
  },
  "profile list": {
    usage: "profile list [--json]",
    options: ["json"],
    meaning: "prints the profiles, without their keys",
    load: async () => (await import("./remote/manage.ts")).listProfiles,
  },
  "profile remove": {
    usage: "profile remove NAME",
    options: [],
    meaning: "forgets a profile and its key",
    load: async () => (await import("./remote/manage.ts")).forgetProfile,
  },
  send: {
    usage: "send NUMBER[,NUMBER] TEXT [--sender HELIOG] [--type TRANS] [--wait]",
    options: [...SERVER, "sender", "type", "wait"],
    meaning: "sends a text message; --wait prints what became of it, and ends with exit code 1 if it failed",
    load: async () => (await import("./remote/messages.ts")).send,
  },
  "verify check": {
    usage: "verify check VERIFY-ID CODE",
    options: SERVER,
    meaning: "checks a one-time password",
    load: async () => (await import("./remote/messages.ts")).checkCode,
  },
  verify: {
    usage: "verify NUMBER [--config default]",
    options: [...SERVER, "config"],
    meaning: "sends a one-time password, and asks for it at a terminal",
    load: async () => (await import("./remote/messages.ts")).verify,
  },
  why: {
    usage: "why MESSAGE-ID",
    options: SERVER,
    meaning: "prints each step of a message with its reason",
    load: async () => (await import("./remote/messages.ts")).why,
  },
  tail: {
    usage: "tail [--channel sms]",
    options: [...SERVER, "channel"],
    meaning: "prints the messages of the account as they change, until it is stopped",
    load: async () => (await import("./remote/tail.ts")).tail,
  },
  trigger: {
    usage: "trigger EVENT [--name ENDPOINT]",
    options: [...SERVER, "name"],
    meaning: "sends a sample event, such as message_status, to the webhooks that subscribe to it",
    load: async () => (await import("./remote/trigger.ts")).trigger,
  },
  "carriers list": {
    usage: "carriers list",
    options: SERVER,
    meaning: "prints the carriers and whether they are up",
    load: async () => (await import("./remote/manage.ts")).listCarriers,
  },
  "carriers test": {
    usage: "carriers test NAME",
    options: SERVER,
    meaning: "connects to a carrier with its stored settings and sends nothing; exit code 1 if that fails",
    load: async () => (await import("./remote/manage.ts")).testCarrier,
  },
  "keys list": {
    usage: "keys list",
    options: SERVER,
    meaning: "prints the API keys, without their secrets",
    load: async () => (await import("./remote/manage.ts")).listKeys,
  },
  "keys add": {
    usage: "keys add NAME --scopes sms,read [--mode live|test]",
    options: [...SERVER, "scopes", "mode"],
    meaning: "creates an API key and prints it once",
    load: async () => (await import("./remote/manage.ts")).addKey,
  },
  "keys revoke": {
    usage: "keys revoke ID [--yes]",
    options: [...SERVER, "yes"],
    meaning: "revokes an API key",
    load: async () => (await import("./remote/manage.ts")).revokeKey,
  },
  mcp: {
    usage: "mcp",
    options: ["profile", "url", "key"],
    meaning: "lets an AI assistant on this machine use a server: speaks the Model Context Protocol on stdin and stdout",
    load: async () => (await import("./remote/mcp.ts")).mcp,
  },
  bench: {
    usage: "bench [--messages 1000] [--concurrency 32]",
    options: [...SERVER, "messages", "concurrency"],
    meaning: "sends messages with a test key to the simulator, and measures the answers",
    load: async () => (await import("./remote/bench.ts")).bench,
  },
  smsc: {
    usage: "smsc [--port 2775] [--host 127.0.0.1] [--set NAME=VALUE]... [--tls-cert FILE --tls-key FILE]",
    options: ["port", "host", "set", "tls-cert", "tls-key"],
    meaning:
      "a simulated SMSC for any SMPP client: the last four digits of a number script its outcome, and --set configures its behaviour",
    load: async () => (await import("./smsc.ts")).smsc,
  },
  completion: {
    usage: "completion SHELL",
    options: [],
    meaning:
      "prints a script that completes commands and options in bash, zsh or fish: source <(heliograph completion bash)",
    load: async () => printCompletion,
  },
};

/** The server runs until a signal stops it. */
async function startServer(): Promise<string> {
  await import("../main.ts");
  return "";
}

async function reportHealth(
  _config: Config,
  _words: readonly string[],
  options: { json?: boolean | undefined },
  _terminal: Terminal,
  _profiles: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { runDoctor } = await import("./doctor.ts");
  const { text, exitCode } = await runDoctor(env, options);
  process.exitCode = exitCode;
  return text;
}

/** A dry run of `config apply`. */
async function planConfig(
  config: Config,
  words: readonly string[],
  options: { account?: string | undefined },
  terminal: Terminal,
  profiles: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { applyConfig } = await import("./config-apply.ts");
  return applyConfig(config, words, { ...options, "dry-run": true }, terminal, profiles, env);
}

async function printCompletion(_config: Config, [shell = ""]: readonly string[]): Promise<string> {
  const { completionFor } = await import("./completion.ts");
  return completionFor(shell, COMMANDS);
}
