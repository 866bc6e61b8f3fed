import type { Generated } from "kysely";

/** The rows as they lie in both engines. Flags are 0 or 1, times epoch milliseconds, lists and objects JSON text. */
export interface Tables {
  service: { name: string; value: string };
  revisions: { topic: string; revision: number };
  accounts: { id: Generated<number>; name: string; suspended: number; settings: string; created_at: number };
  users: UserRow;
  recovery_codes: { account_id: number; user_id: string; digest: string };
  sessions: { digest: string; account_id: number; user_id: string; created_at: number; seen_at: number };
  login_failures: { digest: string; failures: number; last_at: number; locked_until: number };
  audit: AuditRow;
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
  nodes: { id: Generated<number>; beat_at: number; dead: number; sends: number; roles: string; started_at: number };
  messages: MessageRow;
  catalog: {
    account_id: number;
    kind: string;
    id: string;
    name: string;
    origin: string;
    content: string;
    created_at: number;
    updated_at: number;
  };
  submissions: {
    carrier: string;
    carrier_message_id: string;
    account_id: number;
    request_id: string;
    n: number;
    part: number;
    parts: number;
    /** The first part's id, which all parts of one submit share; null where there is only one. */
    whole: string | null;
    state: string | null;
    error_code: string | null;
    description: string | null;
  };
  parked_receipts: ParkedRow;
  /** How the receipts of a carrier spell ids, where that was learned. */
  id_forms: { account_id: number; carrier_id: string; form: string; learned_at: number };
  idempotency: {
    account_id: number;
    path: string;
    key: string;
    body_hash: string;
    response: string;
    created_at: number;
  };
  failovers: { account_id: number; request_id: string; n: number; due_at: number };
  optouts: { account_id: number; number: string; source: string; note: string | null; created_at: number };
  balances: { account_id: number; balance: number; held: number };
  ledger: LedgerRow;
  retention: { account_id: number; erased_to: string; erased_to_n: number };
  kept_texts: { account_id: number; request_id: string; n: number };
  link_targets: {
    account_id: number;
    request_id: string;
    k: number;
    url: string;
    created_at: number;
    expires_at: number;
  };
  links: { code: string; account_id: number; request_id: string; n: number; k: number };
  clicks: { account_id: number; code: string; id: string; agent: string; at: number };
  inbound: {
    account_id: number;
    id: string;
    channel: string;
    number: string;
    sender: string;
    content: string;
    request_id: string | null;
    n: number | null;
    received_at: number;
  };
  inbound_parts: {
    account_id: number;
    carrier: string;
    number: string;
    sender: string;
    /** With a suffix once the phone has used it again for another text. */
    reference: string;
    total: number;
    part: number;
    /** In base64. */
    octets: string;
    data_coding: number;
    alphabet: string;
    at: number;
    done_at: number | null;
  };
  callbacks: CallbackRow;
  endpoint_health: {
    account_id: number;
    endpoint_id: string;
    failing_since: number | null;
    last_success_at: number | null;
    last_failure_at: number | null;
    last_failure: string | null;
  };
  verifications: VerificationRow;
  /** Requests that brought a code by a later channel. */
  verify_requests: { account_id: number; request_id: string; verify_id: string };
  verify_numbers: {
    account_id: number;
    /** Of the key: what is sent with test keys counts for nothing else. */
    mode: string;
    number: string;
    /** What limits refuse by. */
    sends: string;
    /** What they are only noted by. */
    noted_sends: string;
    failures: string;
    /** Ids of verifications by the names of their configurations. */
    latest: string;
    touched_at: number;
    /** When a code that was owed was last used; 0 when none ever was. */
    verified_at: Generated<number>;
  };
  verify_tallies: {
    account_id: number;
    /** `country` counts ten minutes, `account` a day, each with the book it is for; a bucket is named by how many went before it. */
    kind: string;
    name: string;
    bucket: number;
    sends: number;
    verified: number;
  };
  verify_prefixes: PrefixRow;
  /** Tries at codes that an account does not have. */
  verify_strays: { account_id: number; checks: number; last_at: number };
  phones: {
    account_id: number;
    number: string;
    name: string | null;
    message_count: number;
    last_message_at: number | null;
  };
  phone_messages: PhoneMessageRow;
  figures: FigureRow;
  /** `fresh` says whether the last write that came was one that had not come before. */
  figure_writers: { writer: string; sequence: number; fresh: number; at: number };
}

export interface UserRow {
  account_id: number;
  id: string;
  email: string;
  name: Generated<string>;
  password_hash: string;
  role: string;
  disabled: Generated<number>;
  password_due: Generated<number>;
  created_at: number;
  last_login_at: Generated<number | null>;
  totp_secret: Generated<string | null>;
  totp_next: Generated<string | null>;
  totp_step: Generated<number | null>;
}

export interface AuditRow {
  account_id: number;
  id: string;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string | null;
  action: string;
  kind: string;
  record_id: string | null;
  record_name: string | null;
  fields: string;
  address: string;
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
  credits: number;
  /** What has become of its credits: 0 it costs none, 1 held, 2 spent, 3 given back. */
  charge: number;
  /**
   * What the last move did to them: 0 nothing, 1 spent, 2 given back while held, 3 given back after they were spent; and 4
   * more when it was the first sign that a carrier has the message.
   */
  charge_change: number;
  tried: string | null;
  trail: string | null;
  operator: string | null;
  circle: string | null;
  repeats: number;
}

export interface ParkedRow {
  id: Generated<number>;
  carrier: string;
  carrier_message_id: string;
  channel: string | null;
  state: string;
  error_code: string | null;
  description: string | null;
  at: number;
  parked_at: number;
  /** Whose line it came by; null where the line is everybody's. */
  account_id: number | null;
  other_ids: string | null;
  /** Empty where the receipt names no phone. */
  recipient: string;
  operator: string | null;
  circle: string | null;
}

export interface CallbackRow {
  account_id: number;
  event_id: string;
  endpoint_id: string;
  kind: string;
  status: string | null;
  request_id: string | null;
  n: number | null;
  at: number;
  error_code: string | null;
  description: string | null;
  carrier: string | null;
  facts: string;
  state: string;
  owner: number;
  attempts: number;
  due_at: number;
  done_at: number | null;
  log: string | null;
}

export interface VerificationRow {
  account_id: number;
  id: string;
  mode: string;
  config: string;
  number: string;
  country: string;
  state: string;
  digest: string;
  checks: number;
  checks_max: number;
  /** Whether wrong tries count for the number, and too many of them refuse. */
  bound: number;
  failures_per_hour: number;
  failures_per_day: number;
  test: number;
  created_at: number;
  expires_at: number;
  done_at: number | null;
  next_at: number | null;
  plan: string | null;
  /** The book that it was counted in as a send; empty where the code is fixed, which is not. */
  counted: string;
  /** For how many codes it pays when it is used; 0 where none is owed. */
  pays: number;
  /** Whether somebody is to be told of its end. */
  followed: number;
}

/** What a block of numbers owes, and whether it is blocked. */
export interface PrefixRow {
  account_id: number;
  prefix: string;
  owed: number;
  slot: number;
  slot_sends: number;
  before_sends: number;
  sends: number;
  verified: number;
  sent_at: number;
  blocked_at: number;
  blocked_until: number;
  strikes: number;
}

export interface FigureRow {
  account_id: number;
  /** How many milliseconds are counted together. */
  grain: number;
  /** When they begin. */
  at: number;
  what: string;
  channel: string;
  route_class: string;
  code: string;
  count: number;
}

export interface LedgerRow {
  account_id: number;
  request_id: string;
  n: number;
  kind: string;
  amount: number;
  held: number;
  note: string | null;
  at: number;
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
  carrier: string;
}
