import type { Channel, SendChannel } from "./parts/channel.tsx";

/** Response types of the API, with only the fields that the pages use. The full reference is at /docs. */

export interface Message {
  messageId: string;
  channel: SendChannel;
  type: string;
  sender: string;
  recipient: string;
  text: string;
  encoding: string | null;
  dataCoding: number | null;
  udh: string | null;
  erased: boolean;
  templateName: string | null;
  status: "Pending" | "Delivered" | "Failed";
  state: string;
  errCode: string | null;
  statusDescription: string | null;
  segments: number;
  credits: number;
  campaignName: string | null;
  test: boolean;
  createdAt: number;
  dueAt: number | null;
  submittedAt: number | null;
  doneAt: number | null;
  carrier: string | null;
  attempts: number;
  /** Content of a chat-app session message that is no text. */
  session?: SessionPart;
}

export interface TimelineStep {
  at: number;
  step: string;
  what: string;
  exchange: string | null;
  outcome: "ok" | "warning" | "failed";
}

export interface Sent {
  id: string;
  data: { recipient: string; messageId: string }[];
  totalCount: number;
}

export interface Suggestion {
  type: string;
  text: string;
  data: string;
  url?: string;
  webview?: string;
  number?: string;
  message?: string;
  recording?: string;
  label?: string;
  title?: string;
}

export interface Card {
  title: string;
  description: string;
  fileUrl: string | null;
  thumbnailUrl?: string;
  height?: string;
  orientation?: string;
  imageSide?: string;
  suggestions: readonly Suggestion[];
}

export interface ChatButton {
  type: string;
  text: string;
  url?: string;
  number?: string;
  /** The code that a copy-code button copies, or the data behind a reply. */
  value?: string;
}

export interface ChatHeader {
  type: string;
  text?: string | null;
  link?: string | null;
  location?: { latitude: number; longitude: number; name: string; address: string };
}

/** A card of a chat-app carousel. Templates have a pattern as body, messages the text with its values. */
export interface ChatCard {
  header: ChatHeader;
  body?: string | null;
  text?: string | null;
  variables?: number;
  buttons: readonly ChatButton[];
}

/** A message on a simulated phone, or the preview of one. */
export interface PhoneMessage {
  id: string;
  messageId: string;
  to: string;
  sender: string;
  channel: Channel;
  text: string;
  receivedAt: number;
  /** Subject and body of an e-mail. */
  email?: string;
  subject?: string;
  encoding?: string | null;
  dataCoding?: number | null;
  udh?: string | null;
  flash?: boolean;
  parts?: readonly string[];
  kind?: string;
  templateName?: string;
  suggestions?: readonly Suggestion[];
  cards?: readonly Card[];
  header?: ChatHeader | null;
  footer?: string | null;
  buttons?: readonly ChatButton[];
  offer?: { text: string; expiresAt: number | null };
  carousel?: readonly ChatCard[];
  session?: SessionPart;
  /** The message that it replies to or reacts to. */
  about?: string;
}

interface SessionFile {
  link: string;
  caption?: string;
  filename?: string;
}

/** Content of a chat-app session message that is no text. */
export interface SessionPart {
  type: string;
  image?: SessionFile;
  video?: SessionFile;
  document?: SessionFile;
  audio?: SessionFile;
  sticker?: SessionFile;
  location?: { latitude: number; longitude: number; name?: string; address?: string };
  contacts?: readonly { name: { formatted_name: string }; phones?: readonly { phone?: string }[] }[];
  interactive?: Interactive;
  reaction?: { emoji: string };
}

interface Interactive {
  header?: { type: string; text?: string; image?: SessionFile; video?: SessionFile; document?: SessionFile };
  body: { text: string };
  footer?: { text: string };
  action: {
    buttons?: readonly { reply: { id: string; title: string } }[];
    button?: string;
    sections?: readonly {
      title?: string;
      rows: readonly { id: string; title: string; description?: string }[];
    }[];
    parameters?: { display_text: string; url: string };
  };
}

/** A message that a phone's owner sent. */
export interface Inbound {
  id: string;
  channel: SendChannel;
  from: string;
  to: string;
  text: string;
  suggestionResponse: { plainText: string; postBack: { data: string }; type: string } | null;
  userFile: { category: string; payload: { fileName: string; fileUri: string; mimeType?: string } } | null;
  location: { latitude: number; longitude: number } | null;
  /** Facts of the chat app's platform besides the content. */
  details: { kind: string; description?: string; referral?: { headline?: string; sourceUrl?: string } } | null;
  messageId: string | null;
  receivedAt: number;
  /** The time when the account marked it as read. */
  readAt: number | null;
}

export interface Phone {
  number: string;
  name: string | null;
  script: string | null;
  messageCount: number;
  lastMessageAt: number | null;
}

export interface Attempt {
  at: number;
  ms: number;
  status: number | null;
  reason: string | null;
  excerpt: string;
  nextTryAt: number | null;
}

export interface Callback {
  id: string;
  eventId: string;
  endpointId: string;
  endpoint: string | null;
  event: string;
  status: string | null;
  messageId: string | null;
  happenedAt: number;
  state: string;
  tries: number;
  nextTryAt: number | null;
  lastAttempt: Attempt | null;
}

export interface CallbackDetail extends Callback {
  request: { method: string; url: string; headers: Record<string, string>; body: string | null } | null;
  attempts: readonly Attempt[];
}

/** Preview of a send on any channel: segments, price and policy decisions. */
export interface SendPreview {
  credits: number;
  balance: number | null;
  affordable: boolean;
  wouldRefuse: readonly string[];
  recipients: readonly {
    recipient: string;
    failure: string | null;
    heldUntil: number | null;
    routes: readonly { name: string; carrier: string }[];
  }[];
}

export interface SmsPreview extends SendPreview {
  text: string;
  encoding: "gsm7" | "ucs2";
  characters: number;
  segmentCount: number;
  segments: readonly { text: string }[];
  cheaper: { text: string; segments: number; replaced: readonly { found: string; use: string }[] } | null;
}

interface NamedRecord {
  id: string;
  name: string;
  origin: "learned" | "authored";
}

export interface Titled extends NamedRecord {
  title: string | null;
}

interface SmsTemplate extends NamedRecord {
  channel: "sms";
  text: string | null;
  variables: number;
}

export interface ChatTemplate extends NamedRecord, ChatVersion {
  channel: "chatapp";
  /** The same template in other languages. */
  languages?: readonly ChatVersion[];
}

/** A chat-app template in one language. */
export interface ChatVersion {
  language: string;
  header: ChatHeader | null;
  body: string | null;
  variables: number;
  footer: string | null;
  buttons: readonly ChatButton[];
  offer?: { text: string; expires?: boolean } | null;
  cards?: readonly ChatCard[];
  status: string;
  /** The platform's own words about it; null or absent while it does not have it. */
  platform?: { status: string; reason: string | null; quality: string | null } | null;
}

export interface RcsTemplate extends NamedRecord {
  channel: "rcs";
  kind: "text" | "rich" | "card" | "carousel";
  text: string | null;
  variables: number;
  suggestions: readonly Suggestion[];
  cards: readonly Card[];
  status: string;
}

export type Template = SmsTemplate | ChatTemplate | RcsTemplate;
