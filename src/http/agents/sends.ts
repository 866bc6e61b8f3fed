import { newId } from "../../lib/ids.ts";
import { LETTERS_AND_DIGITS, randomText } from "../../lib/random.ts";
import {
  AGENT_TOKEN_MS,
  APPROVAL_MS,
  DEFAULT_AGENT_LIMITS,
  isAllowedRecipient,
  type AgentLimits,
  type AgentOperation,
  type AgentSend,
} from "../../model/agent.ts";
import { maskNumber } from "../../model/verification.ts";
import { Problem } from "../../model/problem.ts";
import { readGenerate } from "../../otp/read.ts";
import type { Services } from "../route.ts";
import type { Agent } from "./agent-calls.ts";

/** Sends of one key that wait for approval. */
const WAITING_MAX = 50;

export const limitsOf = ({ credential: { key } }: Agent): AgentLimits => key.agent ?? DEFAULT_AGENT_LIMITS;

interface PreviewAnswer {
  credits: number;
  recipients: { recipient: string }[];
}

/** A prepared send and what would become of it. */
export interface PreparedSend {
  token: string;
  send: AgentSend;
  preview: PreviewAnswer | null;
}

type SendServices = Pick<Services, "agentCalls" | "store" | "clock" | "keyring" | "deliverDeps">;

/** Previews a send, checks it against the limits of the key and keeps it, so that its token sends exactly this content. */
export async function prepareSend(
  services: SendServices,
  agent: Agent,
  operation: Exclude<AgentOperation, "verify">,
  body: object,
): Promise<PreparedSend> {
  const path = `/v1/${operation}/preview`;
  const answer = await services.agentCalls.request(agent, { method: "POST", path, body, masked: false });
  const preview = answer as PreviewAnswer;
  const numbers = preview.recipients.map(({ recipient }) => recipient.replace("+", ""));
  return { ...(await keep(services, agent, { operation, body, numbers, credits: preview.credits })), preview };
}

/** The same for a one-time password, which has no preview. It counts as one credit. */
export async function prepareCode(services: SendServices, agent: Agent, body: object): Promise<PreparedSend> {
  const { number } = readGenerate(body, agent.credential.account.settings);
  return {
    ...(await keep(services, agent, { operation: "verify", body, numbers: [number], credits: 1 })),
    preview: null,
  };
}

interface Content {
  operation: AgentOperation;
  body: object;
  numbers: readonly string[];
  credits: number;
}

async function keep(
  { store, clock, keyring, deliverDeps }: SendServices,
  agent: Agent,
  { operation, body, numbers, credits }: Content,
): Promise<Pick<PreparedSend, "token" | "send">> {
  const limits = limitsOf(agent);
  refuseOthers(limits, numbers);
  refuseTooMuch(limits, { messages: 0, credits: 0 }, { recipients: numbers.length, credits });
  const { key, account } = agent.credential;
  const token = `hga_${randomText(LETTERS_AND_DIGITS, 32)}`;
  const now = clock.now();
  const send: AgentSend = {
    accountId: account.id,
    id: newId(now),
    keyId: key.id,
    digest: keyring.digestOf(token),
    operation,
    body: deliverDeps.encryption.encrypt(JSON.stringify(body)),
    recipients: numbers.length,
    credits,
    state: "previewed",
    reason: null,
    result: null,
    address: agent.address,
    createdAt: now,
    expiresAt: now + AGENT_TOKEN_MS,
    decidedBy: null,
    decidedAt: null,
  };
  await store.addAgentSend(send);
  return { token, send };
}

function refuseOthers(limits: AgentLimits, numbers: readonly string[]): void {
  const other = numbers.find((number) => !isAllowedRecipient(limits, number));
  if (other !== undefined)
    throw new Problem("AGENT_LIMIT", { message: `${maskNumber(other)} is not in the list of recipients of this key.` });
}

type Counted = Pick<AgentSend, "recipients" | "credits">;

/** Throws if the send exceeds a limit, given what was sent before. */
function refuseTooMuch(limits: AgentLimits, used: { messages: number; credits: number }, send: Counted): void {
  const over = (name: string, max: number, before: number, more: number): void => {
    if (before + more > max)
      throw new Problem("AGENT_LIMIT", {
        message: `This needs ${more} ${name}; ${Math.max(0, max - before)} of ${max} are left for this key.`,
      });
  };
  over("messages of one hour", limits.messagesPerHour, used.messages, send.recipients);
  over("credits of one day", limits.creditsPerDay, used.credits, send.credits);
}

/** Sends what a token stands for, or hands it to a person for approval. */
export async function sendPrepared(services: SendServices, agent: Agent, token: string): Promise<AgentSend> {
  const { store, keyring, clock } = services;
  const { key, account } = agent.credential;
  const ref = { accountId: account.id, keyId: key.id, digest: keyring.digestOf(token) };
  const send = await store.findAgentSendByToken(ref);
  if (!send) throw unknownToken();
  if (send.state !== "previewed") throw new Problem("AGENT_SEND_OVER", { message: usedMessage(send) });
  // The limits may have changed since the preview.
  refuseOthers(limitsOf(agent), await numbersIn(services, agent, send));
  if (!limitsOf(agent).needsApproval) return claimAndPerform(services, agent, send, null);
  const now = clock.now();
  refuseTooMuch(limitsOf(agent), await store.countAgentUse(send, now), send);
  const terms = { now, expiresAt: now + APPROVAL_MS, waitingMax: WAITING_MAX };
  if (await store.requestApproval(send, terms)) return { ...send, state: "waiting", expiresAt: terms.expiresAt };
  if (send.expiresAt <= now) throw new Problem("AGENT_SEND_OVER", { message: "The token has expired: preview again." });
  throw new Problem("AGENT_LIMIT", { message: `${WAITING_MAX} sends of this key wait for approval already.` });
}

export const unknownToken = (): Problem =>
  new Problem("RECORD_NOT_FOUND", { message: "No preview of this key has this token: call preview again." });

const usedMessage = ({ state }: AgentSend): string =>
  state === "waiting"
    ? "This send waits for a person's approval in the dashboard: read its status with the token."
    : "This token was already used. Each preview can be sent once.";

/** A changed allow-list also holds for sends that were prepared before. */
async function numbersIn(services: SendServices, agent: Agent, send: AgentSend): Promise<string[]> {
  if (limitsOf(agent).recipients.length === 0) return [];
  const body = readBody(services, send);
  if (send.operation === "verify") return [readGenerate(body, agent.credential.account.settings).number];
  const path = `/v1/${send.operation}/preview`;
  const { recipients } = (await services.agentCalls.request(agent, {
    method: "POST",
    path,
    body,
    masked: false,
  })) as PreviewAnswer;
  return recipients.map(({ recipient }) => recipient.replace("+", ""));
}

/** The request body of a send that has not ended. */
export const readBody = ({ deliverDeps }: Pick<Services, "deliverDeps">, { body }: AgentSend): object =>
  JSON.parse(body === null ? "{}" : deliverDeps.encryption.decrypt(body)) as object;

/** Sends once, within the limits. `by` is the person who approves. */
async function claimAndPerform(
  services: SendServices,
  agent: Agent,
  send: AgentSend,
  by: string | null,
): Promise<AgentSend> {
  const { store, clock } = services;
  const limits = limitsOf(agent);
  const now = clock.now();
  const { messagesPerHour, creditsPerDay } = limits;
  const claim = randomText(LETTERS_AND_DIGITS, 16);
  const terms = { from: send.state, claim, now, messagesPerHour, creditsPerDay, by };
  if (!(await store.claimAgentSend(send, terms))) {
    const current = await store.findAgentSend(send);
    if (current?.state !== send.state) throw new Problem("AGENT_SEND_OVER", { message: usedMessage(current ?? send) });
    if (send.expiresAt <= now)
      throw new Problem("AGENT_SEND_OVER", { message: "The token has expired: preview again." });
    refuseTooMuch(limits, await store.countAgentUse(send, now), send);
    throw new Problem("OVERLOADED", { retryAfterSeconds: 1 });
  }
  return perform(services, agent, { ...send, decidedBy: by, decidedAt: by === null ? null : now });
}

async function perform(services: SendServices, agent: Agent, send: AgentSend): Promise<AgentSend> {
  const { agentCalls, store } = services;
  try {
    const answer = await agentCalls.request(agent, {
      method: "POST",
      path: `/v1/${send.operation}`,
      body: readBody(services, send),
      // A repetition after a crash would not send again.
      idempotencyKey: `agent-${send.id}`,
      masked: false,
    });
    const { id, data } = answer as { id?: string; data: unknown };
    const result = id ?? String(data);
    await store.endAgentSend(send, { state: "sent", reason: null, result, counted: true });
    return { ...send, state: "sent", result };
  } catch (error) {
    // A server error may have come after the commit, so it counts.
    const counted = !(error instanceof Problem) || error.status >= 500;
    const reason = error instanceof Problem ? `${error.code}: ${error.message}` : "INTERNAL";
    await store.endAgentSend(send, { state: "failed", reason, result: null, counted });
    throw error;
  }
}

/** Sends what waits, as the agent's key may now. The limits of the key still hold. */
export async function approveSend(services: SendServices, send: AgentSend, by: string): Promise<AgentSend> {
  const credential = services.keyring.findKey(send.keyId);
  if (!credential || credential.account.id !== send.accountId)
    throw new Problem("AGENT_SEND_OVER", { message: "The key of this agent has been revoked or has expired." });
  const agent = { credential, address: send.address };
  refuseOthers(limitsOf(agent), await numbersIn(services, agent, send));
  return claimAndPerform(services, agent, send, by);
}
