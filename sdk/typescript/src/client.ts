import { PagedList, type Page } from "./pages.ts";
import type {
  Audience,
  AudienceRequest,
  CampaignDetails,
  CampaignReport,
  CampaignRequest,
  CancelResponse,
  ChatRequest,
  Event,
  InboundMessage,
  ListAudiencesQuery,
  ListCampaignsQuery,
  ListEventsQuery,
  ListInboundQuery,
  ListMessagesQuery,
  Message,
  MessageRequest,
  MessageWithTimeline,
  OtpGenerated,
  OtpOutcome,
  OtpVerified,
  OutcomeRequest,
  RcsRequest,
  SendResponse,
  SmsPreview,
  SmsPreviewRequest,
  SmsRequest,
  SmsSendResponse,
  TemplatePreview,
  ValidateRequest,
  Verification,
  VerifyRequest,
} from "./schema.ts";
import { Transport, type CallOptions, type HeliographOptions } from "./transport.ts";

/** A started verification. */
export interface StartedVerification extends OtpGenerated {
  verifyId: string;
}

/** A verification with a correct code. */
export interface CheckedVerification extends OtpVerified {
  verifyId: string;
  verified: true;
}

/** Filters of a list, which advances the cursor itself. */
type Filters<Query> = Omit<Query, "cursor">;

/** Client of one Heliograph server with one API key. */
export class Heliograph {
  readonly sms: Sms;
  readonly rcs: Rcs;
  readonly chatapp: ChatApp;
  readonly messages: Messages;
  readonly verify: Verify;
  readonly inbound: Inbound;
  readonly events: Events;
  readonly audiences: Audiences;
  readonly campaigns: Campaigns;

  constructor(options: HeliographOptions) {
    const transport = new Transport(options);
    this.sms = new Sms(transport);
    this.rcs = new Rcs(transport);
    this.chatapp = new ChatApp(transport);
    this.messages = new Messages(transport);
    this.verify = new Verify(transport);
    this.inbound = new Inbound(transport);
    this.events = new Events(transport);
    this.audiences = new Audiences(transport);
    this.campaigns = new Campaigns(transport);
  }
}

abstract class Resource {
  protected readonly transport: Transport;
  constructor(transport: Transport) {
    this.transport = transport;
  }
}

export class Sms extends Resource {
  /** Sends a text message to one or more recipients. */
  send(message: SmsRequest, options?: CallOptions): Promise<SmsSendResponse> {
    return this.transport.send("/v1/sms", message, options);
  }

  /** Text, segments, price and policy decisions of a message; sends nothing. */
  preview(message: SmsPreviewRequest, options?: CallOptions): Promise<SmsPreview> {
    return this.transport.post("/v1/sms/preview", message, "safe", options);
  }
}

export class Rcs extends Resource {
  /** Sends an RCS message by a bot. */
  send(message: RcsRequest, options?: CallOptions): Promise<SendResponse> {
    return this.transport.send("/v1/rcs", message, options);
  }

  /** Price, policy decisions and routes of every recipient; sends nothing. */
  preview(message: RcsRequest, options?: CallOptions): Promise<TemplatePreview> {
    return this.transport.post("/v1/rcs/preview", message, "safe", options);
  }
}

export class ChatApp extends Resource {
  /** Sends a template message, or a free text within 24 hours of the user's last message. */
  send(message: ChatRequest, options?: CallOptions): Promise<SendResponse> {
    return this.transport.send("/v1/chatapp", message, options);
  }

  /** Price, policy decisions and routes of every recipient; sends nothing. */
  preview(message: ChatRequest, options?: CallOptions): Promise<TemplatePreview> {
    return this.transport.post("/v1/chatapp/preview", message, "safe", options);
  }
}

export class Messages extends Resource {
  /** Sends one message by several channels in order. */
  send(message: MessageRequest, options?: CallOptions): Promise<SendResponse> {
    return this.transport.send("/v1/messages", message, options);
  }

  /** A message with its timeline. */
  get(messageId: string, options?: CallOptions): Promise<MessageWithTimeline> {
    return this.transport.get(`/v1/messages/${segment("messageId", messageId)}`, {}, options);
  }

  /** Messages, newest first. */
  list(filters: Filters<ListMessagesQuery> = {}, options?: CallOptions): PagedList<Message> {
    return new PagedList((cursor) => this.transport.get("/v1/messages", { ...filters, cursor }, options));
  }

  /** Cancels a message, or all messages of a send, unless a carrier already has them. */
  cancel(messageId: string, options?: CallOptions): Promise<CancelResponse> {
    return this.transport.post(`/v1/messages/${segment("messageId", messageId)}/cancel`, undefined, "safe", options);
  }
}

export class Verify extends Resource {
  /** Sends a one-time password. */
  async start(request: VerifyRequest, options?: CallOptions): Promise<StartedVerification> {
    const answer = await this.transport.send<OtpGenerated>("/v1/verify", request, options);
    return { ...answer, verifyId: answer.data };
  }

  /** Checks a code. A wrong one throws an `ApiError` with the code `OTP_INCORRECT` and `attemptsRemaining`. */
  async check(request: ValidateRequest, options?: CallOptions): Promise<CheckedVerification> {
    // Retrying after a lost response would use up another attempt.
    const answer = await this.transport.post<OtpVerified>("/v1/verify/validate", request, "refused", options);
    return { ...answer, verifyId: answer.data, verified: true };
  }

  /** The state of a verification, never its code. */
  get(verifyId: string, options?: CallOptions): Promise<Verification> {
    return this.transport.get(`/v1/verify/${segment("verifyId", verifyId)}`, {}, options);
  }

  /** Reports the outcome of a code that your own product checked. */
  outcome(verifyId: string, outcome: OutcomeRequest["outcome"], options?: CallOptions): Promise<OtpOutcome> {
    const path = `/v1/verify/${segment("verifyId", verifyId)}/outcome`;
    return this.transport.post(path, { outcome }, "refused", options);
  }
}

export class Inbound extends Resource {
  /** Messages from users, newest first. */
  list(filters: Filters<ListInboundQuery> = {}, options?: CallOptions): PagedList<InboundMessage> {
    return new PagedList((cursor) => this.transport.get("/v1/inbound", { ...filters, cursor }, options));
  }

  get(id: string, options?: CallOptions): Promise<InboundMessage> {
    return this.transport.get(`/v1/inbound/${segment("id", id)}`, {}, options);
  }

  /** Shows the user of the chat app that the message was read, and perhaps that an answer is being typed. */
  markRead(id: string, { typing = false }: { typing?: boolean } = {}, options?: CallOptions): Promise<InboundMessage> {
    return this.transport.post(`/v1/inbound/${segment("id", id)}/read`, { typing }, "refused", options);
  }
}

export class Events extends Resource {
  /** Events after a cursor, oldest first. Store `nextCursor`, which empty pages have too. */
  page(query: ListEventsQuery = {}, options?: CallOptions): Promise<Page<Event> & { nextCursor: string }> {
    return this.transport.get("/v1/events", { ...query }, options);
  }
}

/** The server takes parts of at most 1 MiB. */
const PART_BYTES = 786_432;

export class Audiences extends Resource {
  /** Uploads a CSV file. The server then checks its rows: read the audience until its state is `ready`. */
  async upload(
    { file, ...audience }: Omit<AudienceRequest, "size"> & { file: string | Uint8Array },
    options?: CallOptions,
  ): Promise<Audience> {
    const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
    const body = { ...audience, size: bytes.length };
    let made = await this.transport.post<Audience>("/v1/audiences", body, "refused", options);
    for (let offset = 0; offset < bytes.length; offset += PART_BYTES) {
      const part = { offset, base64: base64Of(bytes.subarray(offset, offset + PART_BYTES)) };
      // The server knows a part that it has stored, so a repetition changes nothing.
      made = await this.transport.post(`/v1/audiences/${segment("id", made.id)}/parts`, part, "safe", options);
    }
    return made;
  }

  get(id: string, options?: CallOptions): Promise<Audience> {
    return this.transport.get(`/v1/audiences/${segment("id", id)}`, {}, options);
  }

  /** Audiences, newest first. */
  list(filters: Filters<ListAudiencesQuery> = {}, options?: CallOptions): PagedList<Audience> {
    return new PagedList((cursor) => this.transport.get("/v1/audiences", { ...filters, cursor }, options));
  }
}

export class Campaigns extends Resource {
  /** Creates a draft, which sends nothing before `start` or `schedule`. */
  create(campaign: CampaignRequest, options?: CallOptions): Promise<CampaignDetails> {
    return this.transport.post("/v1/campaigns", campaign, "refused", options);
  }

  get(id: string, options?: CallOptions): Promise<CampaignDetails> {
    return this.transport.get(`/v1/campaigns/${segment("id", id)}`, {}, options);
  }

  /** Campaigns to audiences, newest first. */
  list(filters: Filters<ListCampaignsQuery> = {}, options?: CallOptions): PagedList<CampaignDetails> {
    return new PagedList((cursor) => this.transport.get("/v1/campaigns", { ...filters, cursor }, options));
  }

  start(id: string, options?: CallOptions): Promise<CampaignDetails> {
    return this.#act(id, "start", {}, options);
  }

  /** Starts it at a time within the next 30 days. */
  schedule(id: string, at: Date, options?: CallOptions): Promise<CampaignDetails> {
    return this.#act(id, "schedule", { scheduledAt: at.getTime() }, options);
  }

  pause(id: string, options?: CallOptions): Promise<CampaignDetails> {
    return this.#act(id, "pause", {}, options);
  }

  resume(id: string, options?: CallOptions): Promise<CampaignDetails> {
    return this.#act(id, "resume", {}, options);
  }

  /** Stops it for good. Messages that a carrier has are still delivered. */
  cancel(id: string, options?: CallOptions): Promise<CampaignDetails> {
    return this.#act(id, "cancel", {}, options);
  }

  /** Its messages by status, and the rows that were left out. */
  report(id: string, options?: CallOptions): Promise<CampaignReport> {
    return this.transport.get(`/v1/campaigns/${segment("id", id)}/report`, {}, options);
  }

  #act(id: string, action: string, body: object, options: CallOptions | undefined): Promise<CampaignDetails> {
    return this.transport.post(`/v1/campaigns/${segment("id", id)}/${action}`, body, "refused", options);
  }
}

/** Bytes of one argument list, which runtimes limit. */
const CHUNK_BYTES = 16_384;

function base64Of(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  return btoa(binary);
}

/** An id as a path segment. An empty one would address another operation. */
function segment(name: string, id: string): string {
  if (typeof id !== "string" || id === "") throw new TypeError(`${name} is a text that is not empty.`);
  return encodeURIComponent(id);
}
