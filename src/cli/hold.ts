import { lockDataDir, openStore } from "../app/storage.ts";
import { PROGRAM } from "../build-info.ts";
import { BadSetting, type Config } from "../config.ts";
import { systemClock } from "../lib/clock.ts";
import { Locked } from "../lib/lock-file.ts";
import { DROP_OR_SEND, readHold, type DropOrSend, type Hold, type ResumeExceptions } from "../model/hold.ts";
import { messageIdOf, parseMessageId, type MessageRef } from "../model/message.ts";
import { maskNumber } from "../model/verification.ts";
import type { HoldStore, UnsentCampaign, UnsentCount } from "../store/hold.ts";
import type { Store, StoredMessage } from "../store/store.ts";
import type { Terminal } from "./terminal.ts";

interface ResumeOptions {
  waiting?: string | undefined;
  "in-doubt"?: string | undefined;
  list?: boolean | undefined;
  json?: boolean | undefined;
  send?: readonly string[] | undefined;
  drop?: readonly string[] | undefined;
  "send-campaign"?: readonly string[] | undefined;
  "drop-campaign"?: readonly string[] | undefined;
}

const POLL_MS = 250;

/** Holds the service: for a PostgreSQL database that was restored with its own tools, before the nodes start. */
export async function hold(config: Config): Promise<string> {
  const store = await openStore(config, systemClock);
  try {
    const earlier = readHold(await store.findHold());
    if (earlier?.resume) {
      await store.saveHold(JSON.stringify({ ...earlier, resume: null } satisfies Hold));
      return "The service is held already. The resume that the next start would have carried out is cancelled.";
    }
    if (earlier) return "The service is held already.";
    // Before the change: a server that restarts because of it has the data directory unlocked for a moment.
    const running = await isServerRunning(config, store);
    const held: Hold = { since: Date.now(), reason: "operator", snapshotAt: null, resume: null };
    await store.saveHold(JSON.stringify(held));
    return [
      `The service is held: it accepts and sends nothing until ${PROGRAM} resume.`,
      ...(running ? ["Running nodes notice it within seconds, and send until then."] : []),
    ].join("\n");
  } finally {
    await store.close();
  }
}

/** Ends the hold, after deciding about the messages that may have been sent since the backup. */
export async function resume(
  config: Config,
  _args: readonly string[],
  options: ResumeOptions,
  terminal: Terminal,
): Promise<string> {
  if (options.list) return listUnsent(config, options, terminal);
  const given = {
    waiting: readChoice("--waiting", options.waiting),
    inDoubt: readChoice("--in-doubt", options["in-doubt"]),
  };
  const store = await openStore(config, systemClock);
  try {
    const held = readHold(await store.findHold());
    if (!held) return NOT_HELD;
    const [unsent, plans] = await Promise.all([store.countUnsent(Date.now()), store.countPlans()]);
    for (const line of describe(held, unsent, plans)) terminal.say(line);
    const exceptions = await readExceptions(store, options);
    const [waiting, inDoubt] = [
      await hasOthers(store, "waiting", exceptions),
      plans > 0 || (await hasOthers(store, "in doubt", exceptions)),
    ];
    const choices = {
      waiting: given.waiting ?? (waiting ? await choose(terminal, "--waiting", "The waiting messages") : "send"),
      inDoubt: given.inDoubt ?? (inDoubt ? await choose(terminal, "--in-doubt", "What is in doubt") : "send"),
    };
    const planned = JSON.stringify({ ...held, resume: { at: Date.now(), ...choices, exceptions } } satisfies Hold);
    const running = await isServerRunning(config, store);
    await store.saveHold(planned);
    if (!running) return "No server runs. The next start carries this out before it sends anything.";
    while ((await store.findHold()) === planned) await new Promise((done) => setTimeout(done, POLL_MS));
    return "Resumed: the server accepts and sends again.";
  } finally {
    await store.close();
  }
}

/** Shows each message that is not sent, and changes nothing. */
async function listUnsent(config: Config, { json }: ResumeOptions, terminal: Terminal): Promise<string> {
  const store = await openStore(config, systemClock);
  try {
    if (!(await store.findHold())) return json ? "[]" : NOT_HELD;
    const now = Date.now();
    let after: MessageRef | null = null;
    let count = 0;
    for (;;) {
      const page: Awaited<ReturnType<HoldStore["listEachUnsent"]>> = await store.listEachUnsent(now, after, PAGE);
      for (const { kind, message } of page) {
        const shown = unsentView(kind, message);
        if (json) terminal.say(`${count === 0 ? "[" : ","}${JSON.stringify(shown)}`);
        else
          terminal.say(
            Object.values(shown)
              .map((value) => value ?? "-")
              .join("  "),
          );
        count += 1;
      }
      const last = page.at(-1)?.message;
      if (!last || page.length < PAGE) break;
      after = last;
    }
    if (json) return count === 0 ? "[]" : "]";
    return count === 0 ? "Every message of the backup is final." : COLUMNS;
  } finally {
    await store.close();
  }
}

const PAGE = 5000;
const COLUMNS =
  "Columns: message id, group, type, channel, recipient, state, carrier, account and campaign, time at which it is due.";

const unsentView = (kind: UnsentCount["kind"], message: StoredMessage) => ({
  messageId: messageIdOf(message),
  group: kind,
  type: message.routeClass,
  channel: message.channel,
  recipient: maskNumber(message.recipient),
  state: message.state,
  carrier: message.carrier,
  campaign: message.campaignName === null ? null : `${message.accountId}:${message.campaignName}`,
  dueAt: new Date(message.dueAt).toISOString(),
});

/** Ids are sent to the database in one statement, and the plan is one value of it. */
const EXCEPTIONS_MAX = 1000;

/** The choices for single messages and campaigns. Each must name something that waits or is in doubt. */
async function readExceptions(store: HoldStore, options: ResumeOptions): Promise<ResumeExceptions> {
  const messages = DROP_OR_SEND.flatMap((choice) =>
    (options[choice] ?? []).map((messageId) => ({ messageId: messageId.toLowerCase(), choice })),
  );
  const names = DROP_OR_SEND.flatMap((choice) =>
    (options[`${choice}-campaign`] ?? []).map((name) => ({ name, choice })),
  );
  if (messages.length + names.length > EXCEPTIONS_MAX)
    throw new BadSetting(`at most ${EXCEPTIONS_MAX} messages and campaigns can be named; nothing was changed`);
  const known = names.length === 0 ? [] : await store.listUnsentCampaigns(Date.now());
  const campaigns = names.map(({ name, choice }) => ({ ...findCampaign(known, `--${choice}-campaign`, name), choice }));
  const refs = messages.map(({ messageId, choice }) => {
    const ref = parseMessageId(messageId);
    if (!ref) throw new BadSetting(`--${choice} ${messageId}: not a message id; heliograph resume --list shows them`);
    return ref;
  });
  const found = await store.listUnsent(
    { ...BOTH, ...asOf(Date.now()), among: { messages: refs, campaigns: [] } },
    EXCEPTIONS_MAX,
  );
  const ids = new Set(found.map(messageIdOf));
  for (const { messageId, choice } of messages)
    if (!ids.has(messageId))
      throw new BadSetting(`--${choice} ${messageId}: no such message waits or is in doubt; nothing was changed`);
  refuseTwice(messages.map(({ messageId }) => messageId));
  refuseTwice(campaigns.map(({ accountId, name }) => `${accountId}:${name}`));
  return { messages, campaigns };
}

const BOTH = { kinds: ["waiting", "in doubt"] } as const;
const asOf = (now: number) => ({ now, createdBy: now });

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new BadSetting(`${twice} is named twice; nothing was changed`);
}

/** By its name, with the number of its account before it where several accounts have that name. */
function findCampaign(known: readonly UnsentCampaign[], option: string, name: string): UnsentCampaign {
  const found = known.filter((each) => each.name === name || `${each.accountId}:${each.name}` === name);
  const [campaign] = found;
  if (!campaign) throw new BadSetting(`${option} ${name}: no message of it waits or is in doubt; nothing was changed`);
  if (found.length === 1) return campaign;
  const choices = found.map((each) => `${each.accountId}:${each.name}`).join(" or ");
  throw new BadSetting(`${option} ${name}: write ${choices}, with the number of the account; nothing was changed`);
}

/** True if the group has messages besides those with a choice of their own. */
async function hasOthers(
  store: HoldStore,
  kind: "waiting" | "in doubt",
  { messages, campaigns }: ResumeExceptions,
): Promise<boolean> {
  const except = { messages: messages.flatMap(({ messageId }) => parseMessageId(messageId) ?? []), campaigns };
  return (await store.listUnsent({ kinds: [kind], ...asOf(Date.now()), except }, 1)).length > 0;
}

const NOT_HELD = "The service is not held.";

const sumOf = (unsent: readonly UnsentCount[], kind: UnsentCount["kind"]): number =>
  unsent.filter((each) => each.kind === kind).reduce((sum, { count }) => sum + count, 0);

const MEANING = {
  waiting: "Waiting at the time of the backup; the server may have sent them since",
  "in doubt": "Being submitted at the time of the backup; the carrier probably has them",
  later: "Scheduled for later, or of a paused campaign; they are sent at their time",
};

function* describe(
  { reason, snapshotAt, since }: Hold,
  unsent: readonly UnsentCount[],
  plans: number,
): Generator<string> {
  if (reason === "moved")
    yield "These data were copied to PostgreSQL, and the server there sends them. Resume here only if it never ran.";
  yield snapshotAt === null
    ? `Held since ${new Date(since).toISOString()}.`
    : `Restored from a backup of ${new Date(snapshotAt).toISOString()}.`;
  for (const kind of ["waiting", "in doubt", "later"] as const) {
    yield `${MEANING[kind]}: ${sumOf(unsent, kind)}`;
    for (const each of unsent.filter((one) => one.kind === kind))
      yield `  ${each.routeClass}${each.campaignName === null ? "" : `, campaign ${each.campaignName}`}: ${each.count}`;
  }
  if (plans > 0) yield `Planned failovers, fallbacks and next channels of codes, which count as in doubt: ${plans}`;
}

async function choose(terminal: Terminal, option: string, question: string): Promise<DropOrSend> {
  if (!terminal.canAsk)
    throw new BadSetting(
      `${option} send or ${option} drop must say what becomes of these messages; nothing was changed`,
    );
  for (;;) {
    const answer = await terminal.ask(`${question}: send or drop?`);
    if (answer === "") throw new BadSetting("not decided; nothing was changed");
    const choice = DROP_OR_SEND.find((each) => each === answer);
    if (choice) return choice;
  }
}

function readChoice(option: string, written: string | undefined): DropOrSend | null {
  if (written === undefined) return null;
  const choice = DROP_OR_SEND.find((each) => each === written);
  if (!choice) throw new BadSetting(`${option} is one of ${DROP_OR_SEND.join(", ")}`);
  return choice;
}

/** True if a node uses this database now. */
async function isServerRunning(config: Config, store: Pick<Store, "listNodes">): Promise<boolean> {
  if (config.databaseUrl) {
    const nodes = await store.listNodes();
    return nodes.some(({ silentMs }) => silentMs < config.nodeSilentSeconds * 1000);
  }
  try {
    lockDataDir(config)();
    return false;
  } catch (error) {
    if (error instanceof BadSetting && error.cause instanceof Locked) return true;
    throw error;
  }
}
