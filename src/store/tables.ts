import type { Generated } from "kysely";

/** The rows as they lie in both engines. Flags are 0 or 1, times epoch milliseconds, lists and objects JSON text. */
export interface Tables {
  service: { name: string; value: string };
  revisions: { topic: string; revision: number };
  accounts: { id: Generated<number>; name: string; suspended: number; settings: string; created_at: number };
  users: {
    account_id: number;
    id: string;
    email: string;
    password_hash: string;
    role: string;
    created_at: number;
  };
  api_keys: {
    account_id: number;
    id: string;
    name: string;
    mode: string;
    digest: string;
    hint: string;
    scopes: string;
    allowed_ips: string;
    requests_per_second: number | null;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    last_used_at: number | null;
  };
  nodes: { id: Generated<number>; beat_at: number; dead: number };
  messages: MessageRow;
  phones: {
    account_id: number;
    number: string;
    name: string | null;
    message_count: number;
    last_message_at: number | null;
  };
  phone_messages: PhoneMessageRow;
}

export interface MessageRow {
  account_id: number;
  request_id: string;
  n: number;
  channel: string;
  lane: number;
  test: number;
  sender: string;
  recipient: string;
  content: string;
  segments: number;
  campaign_name: string | null;
  state: string;
  owner: number;
  attempts: number;
  carrier: string | null;
  error_code: string | null;
  description: string | null;
  created_at: number;
  due_at: number;
  expires_at: number;
  submitted_at: number | null;
  done_at: number | null;
}

export interface PhoneMessageRow {
  account_id: number;
  id: string;
  number: string;
  sender: string;
  channel: string;
  content: string;
  message_id: string;
  received_at: number;
  reports_due_at: number | null;
}
