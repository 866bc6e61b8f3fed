import { hideNumbers } from "../http/hide-numbers.ts";
import { limitsOf, prepareCode, prepareSend, sendPrepared } from "../http/agents/sends.ts";
import { Type } from "../lib/schema.ts";
import type { AgentSend } from "../model/agent.ts";
import { tool, type Tool } from "./tool.ts";

const Channel = Type.Union([Type.Literal("sms"), Type.Literal("rcs"), Type.Literal("chatapp")], {
  description: "Channel; sms unless given.",
});

/** The state of a prepared send as its agent sees it. */
export const outcomeView = ({
  operation,
  state,
  recipients,
  credits,
  reason,
  result,
  expiresAt,
}: AgentSend): object => ({
  state,
  operation,
  recipients,
  credits,
  ...(state === "sent" &&
    (operation === "verify"
      ? { verifyId: result }
      : { messageIds: Array.from({ length: Math.min(recipients, 100) }, (_, index) => `${result}:${index + 1}`) })),
  ...(reason !== null && { reason }),
  ...((state === "waiting" || state === "previewed") && { expiresAt }),
  ...(state === "waiting" && {
    next: "A person must approve it in the dashboard. Do not send it again; read `status` with the token later.",
  }),
});

const preview = tool({
  name: "preview",
  title: "Preview a message",
  description:
    "First step of sending: shows the text, price, policies and routes of a message and returns a token. Nothing is sent. " +
    "The fields are those of POST /v1/sms, /v1/rcs or /v1/chatapp. The token is valid for ten minutes and once, for exactly this content.",
  input: Type.Object({
    channel: Type.Optional(Channel),
    sender: Type.Optional(Type.String({ description: "sms: sender name or number." })),
    to: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 1000 })], {
        description: "sms: one number, or several. chatapp: one number.",
      }),
    ),
    text: Type.Optional(Type.String({ description: "sms: the text, unless templateId and custom are given." })),
    type: Type.Optional(
      Type.String({
        description:
          "sms and rcs: TRANS for transactional, PROMO for promotional, OTP (sms) for one-time passwords; TRANS unless given. chatapp: template or text.",
      }),
    ),
    templateId: Type.Optional(Type.String({ description: "sms: name of a stored template." })),
    custom: Type.Optional(Type.Array(Type.String(), { description: "sms: values of the template, in order." })),
    number: Type.Optional(Type.String({ description: "rcs: the number, with a plus." })),
    botId: Type.Optional(Type.String({ description: "rcs: the bot that sends." })),
    templateName: Type.Optional(Type.String({ description: "rcs and chatapp: the template." })),
    content: Type.Optional(Type.Array(Type.Unknown(), { description: "rcs: content items with params or fileUrl." })),
    from: Type.Optional(Type.String({ description: "chatapp: the business number, with a plus." })),
    components: Type.Optional(Type.Record(Type.Unknown(), { description: "chatapp: values of body and header." })),
    campaignName: Type.Optional(Type.String({ description: "Name of the campaign." })),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  scopes: ["sms", "rcs", "chatapp"],
  async run(services, agent, { channel = "sms", ...fields }) {
    const body = channel === "chatapp" ? { type: "template", ...fields } : { type: "TRANS", ...fields };
    const { token, send, preview: shown } = await prepareSend(services, agent, channel, body);
    const limits = limitsOf(agent);
    return {
      value: {
        token,
        expiresAt: send.expiresAt,
        needsApproval: limits.needsApproval,
        preview: limits.showsNumbers ? shown : hideNumbers(shown, null),
        next: "Check the preview. Call `send` with the token to send exactly this.",
      },
      recordId: send.id,
    };
  },
});

const send = tool({
  name: "send",
  title: "Send a previewed message",
  description:
    "Second step of sending: sends what the token of `preview` stands for, once. If the key needs approval, the message waits until a person approves it in the dashboard.",
  input: Type.Object({ token: Type.String({ minLength: 1, maxLength: 100, description: "Token of `preview`." }) }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  scopes: ["sms", "rcs", "chatapp"],
  async run(services, agent, { token }) {
    const sent = await sendPrepared(services, agent, token);
    return { value: outcomeView(sent), recordId: sent.id };
  },
});

const verifyStart = tool({
  name: "verify_start",
  title: "Send a one-time password",
  description:
    "Makes a code and sends it to a phone by a verification configuration. The code itself is never shown. Check it with `verify_check`.",
  input: Type.Object({
    to: Type.String({ maxLength: 40, description: "The number, with its country code." }),
    configId: Type.Optional(
      Type.String({ maxLength: 100, description: "Verification configuration; default unless given." }),
    ),
    locale: Type.Optional(Type.String({ maxLength: 40, description: "Language of the user, such as hi or pt-BR." })),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  scopes: ["verify"],
  async run(services, agent, { to, configId = "default", locale }) {
    const body = { to, configId, ...(locale !== undefined && { locale }) };
    const { token, send: prepared } = await prepareCode(services, agent, body);
    const sent = await sendPrepared(services, agent, token);
    return { value: { ...outcomeView(sent), ...(sent.state === "waiting" && { token }) }, recordId: prepared.id };
  },
});

const verifyCheck = tool({
  name: "verify_check",
  title: "Check a one-time password",
  description: "Checks the code that a user gives. A right code is good once.",
  input: Type.Object({
    verifyId: Type.String({ maxLength: 60, description: "Id of `verify_start`." }),
    otp: Type.String({ maxLength: 20, description: "The code that the user gives." }),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  scopes: ["verify"],
  async run({ agentCalls }, agent, { verifyId, otp }) {
    const path = "/v1/verify/validate";
    const value = await agentCalls.request(agent, { method: "POST", path, body: { verifyId, otp }, masked: true });
    return { value, recordId: verifyId };
  },
});

export const SEND_TOOLS: readonly Tool[] = [preview, send, verifyStart, verifyCheck];
