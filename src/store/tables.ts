import type { Generated } from "kysely";

/**
 * Rows as stored by both engines. Flags are 0 or 1, times are epoch milliseconds, lists and objects are JSON text.
 * Some stored names are older than the terms of the code; a comment at the table or column gives the term.
 */
export interface Tables {
  service: { name: string; value: string };
  revisions: { topic: string; revision: number };
  accounts: { id: Generated<number>; name: string; suspended: number; settings: string; created_at: number };
  users: UserRow;
  recovery_codes: { account_id: number; user_id: string; digest: string };
  sessions: {
    digest: string;
    account_id: number;
    user_id: string;
    created_at: number;
    seen_at: number;
    address: Generated<string>;
    agent: Generated<string>;
  };
  invitations: { digest: string; account_id: number; user_id: string; expires_at: number };
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
    /** Limits as JSON; null of an ordinary key. */
    agent: string | null;
  };
  /** Sends that agents have prepared. */
  agent_sends: {
    account_id: number;
    id: string;
    key_id: string;
    digest: string;
    operation: string;
    body: string | null;
    recipients: number;
    credits: number;
    state: string;
    /** Random; tells a claim from another one of the same moment. */
    claim: string | null;
    reason: string | null;
    result: string | null;
    address: string;
    created_at: number;
    expires_at: number;
    /** When it began to count towards the limits of its key. */
    counted_at: number | null;
    decided_by: string | null;
    decided_at: number | null;
  };
  /** Lists of recipients that are uploaded as a file. */
  audiences: AudienceRow;
  /** An uploaded file in parts; `content` is in base64. */
  audience_parts: { account_id: number; audience_id: string; at: number; bytes: number; content: string };
  /** `content` has the values of the variables, as a JSON array. */
  audience_recipients: {
    account_id: number;
    audience_id: string;
    line: number;
    number: string;
    content: string;
    opted_out: number;
  };
  audience_faults: {
    account_id: number;
    audience_id: string;
    line: number;
    column_name: string | null;
    code: string;
  };
  /** Files of messages; their bytes are elsewhere. */
  media: MediaRow;
  /** Ids that platforms gave to uploaded media, by the place that they are valid at. */
  media_uploads: { account_id: number; media_id: string; destination: string; platform_id: string; expires_at: number };
  campaigns: CampaignRow;
  alerts: AlertRow;
  /** Alerts that are open, by rule and subject. */
  open_alerts: { account_id: number; rule: string; subject: string; alert_id: string };
  /** E-mails about alerts that are not sent yet. */
  alert_mails: {
    account_id: number;
    alert_id: string;
    state: string;
    recipient: string;
    created_at: number;
    due_at: number;
    attempts: number;
  };
  carrier_states: { carrier: string; up_since: number | null; last_up_at: number; seen_at: number };
  contacts: ContactRow;
  /** Names of the attributes that contacts have. */
  contact_attributes: { account_id: number; test: number; name: string };
  /** Contacts that are made from the recipients of an audience, up to the row `position`. */
  contact_imports: {
    account_id: number;
    id: string;
    test: number;
    audience_id: string;
    state: string;
    content: string;
    total: number;
    done: number;
    position: number;
    failure: string | null;
    created_at: number;
    ended_at: number | null;
    claim: string | null;
    claimed_until: number;
  };
  /** Usernames and passwords for the APIs of other products. */
  credentials: {
    account_id: number;
    id: string;
    kind: string;
    username: string;
    digest: string;
    sealed: string | null;
    name: string;
    mode: string;
    scopes: string;
    allowed_ips: string;
    requests_per_second: number | null;
    settings: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    last_used_at: number | null;
  };
  /** `beat_at` is the time of the last heartbeat. */
  nodes: { id: Generated<number>; beat_at: number; dead: number; sends: number; roles: string; started_at: number };
  messages: MessageRow;
  /** Configuration records. */
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
    /** Id of the first part, shared by all parts of a submit; null for a single part. */
    whole: string | null;
    state: string | null;
    error_code: string | null;
    description: string | null;
  };
  /** Unmatched receipts. */
  parked_receipts: UnmatchedReceiptRow;
  /** Learned message-id formats, by carrier. */
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
  /** Messages that have not ended some minutes after they were accepted, and when to look for their end. */
  awaited_receipts: { account_id: number; request_id: string; n: number; due_at: number };
  receipt_watch: { account_id: number; watched_to: string; watched_to_n: number };
  optouts: OptOutRow;
  /** The opt-out list of test traffic. */
  test_optouts: OptOutRow;
  /** Numbers that sent keywords: automatic replies of a day, and the opt-in that they have to confirm. */
  keyword_users: {
    account_id: number;
    number: string;
    test: number;
    /** The inbound message that was answered last. */
    replied_to: string | null;
    replies: number;
    window_at: number;
    asked_at: number | null;
  };
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
    recipients: number;
    /** Recipients whose link a person has followed. */
    recipients_clicked: number;
    clicks_person: number;
    clicks_preview: number;
    clicks_bot: number;
  };
  /** `clicked` is 1 once a person has followed it. */
  links: { code: string; account_id: number; request_id: string; n: number; k: number; clicked: number };
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
    /** Event id of its callbacks; null without subscribers. */
    event_id: string | null;
    /** 1 where a test key's phone sent it, or it answers a test message. */
    test: number;
  };
  /** Numbers that are being erased. `position` is a key in JSON; `found` counts the changes of the pass. */
  erasures: {
    account_id: number;
    id: string;
    number: string | null;
    state: string;
    step: number;
    position: string;
    found: number;
    erased: number;
    requested_at: number;
    ended_at: number | null;
    next_at: number;
    claim: string | null;
    claimed_until: number;
  };
  /** Keyed hashes of opted-out numbers that were erased. */
  erased_optouts: { account_id: number; test: number; digest: string; created_at: number };
  conversations: {
    account_id: number;
    id: string;
    test: number;
    channel: string;
    number: string;
    sender: string;
    state: string;
    unread: number;
    /** 1 if `unread` is not 0: the first column of the order. */
    is_unread: number;
    /** Time of the last inbound message. */
    last_at: number;
    assigned_to: string | null;
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
  /** Binds of clients to the SMPP server. */
  smpp_binds: {
    account_id: number;
    id: string;
    credential_id: string;
    node: number;
    kind: string;
    address: string;
    secure: number;
    bound_at: number;
    counters: string;
    trace: string | null;
    closing: number;
    /** Its node reports the last PDUs until then. */
    trace_until: number;
  };
  /** Parts of long texts that clients of the SMPP server submit. */
  submitted_parts: {
    account_id: number;
    credential_id: string;
    source: string;
    destination: string;
    /** With a suffix once the text is accepted, or the client has used the reference for another text. */
    reference: string;
    total: number;
    part: number;
    part_id: string;
    /** Encrypted; empty once the text is accepted. */
    octets: string;
    digest: string;
    /** The id of the part that this one repeats. */
    repeats: string | null;
    data_coding: number;
    registered_delivery: number;
    fields: string;
    at: number;
    done_at: number | null;
    request_id: string | null;
  };
  /** Messages of each campaign by state. A view: on PostgreSQL it includes the changes that are not added up yet. */
  campaign_totals: CampaignCountRow;
  campaign_counts: CampaignCountRow;
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
  /** Verifications whose code came with the request. */
  verify_sources: {
    account_id: number;
    verify_id: string;
    source: string;
    /** 1 if the product checks the code itself. */
    deliver_only: number;
    /** 1 until a code that no product reports on is judged by its delivery. */
    unreported: number;
  };
  verify_numbers: {
    account_id: number;
    /** Mode of the API key. Sends with test keys count toward the limits of test keys only. */
    mode: string;
    number: string;
    /** Times of sends that count toward enforced limits. */
    sends: string;
    /** Times of sends that count toward limits in report-only mode. */
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
  /** Checks of unknown verification ids. */
  verify_strays: { account_id: number; checks: number; last_at: number };
  phones: {
    account_id: number;
    number: string;
    name: string | null;
    message_count: number;
    last_message_at: number | null;
  };
  phone_messages: PhoneMessageRow;
  search_blocks: SearchBlockRow;
  search_zones: SearchZoneRow;
  /** `ending` has the last four digits. */
  search_numbers: {
    account_id: number;
    segment: number;
    ending: string;
    recipient: string;
    request_id: string;
    n: number;
  };
  search_changes: { account_id: number; from_id: string; to_id: string; noted_at: number };
  /** Statistics. */
  figures: FigureRow;
  figure_groups: FigureGroupRow;
  campaign_figures: CampaignFigureRow;
  /** The requests of a campaign with short links. */
  campaign_links: { account_id: number; campaign_id: string; request_id: string };
  code_texts: { account_id: number; carrier: string; code: string; text: string; at: number };
  /** `fresh` is 1 if the last write was no repeat. */
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

export interface MediaRow {
  account_id: number;
  id: string;
  test: number;
  /** A `MediaState`. */
  state: string;
  type: string;
  size: number;
  sha256: string;
  name: string | null;
  /** The phone that sent it; null for an upload. */
  number: string | null;
  inbound_id: string | null;
  /** Address of a user's file on the platform, in JSON; null once it is fetched. */
  source: string | null;
  /** Mode, type and digest of an upload, of which the account has one. */
  content_key: string | null;
  failure: string | null;
  attempts: number;
  created_at: number;
  expires_at: number | null;
  /** The time for the next work at the bytes. */
  due_at: number;
}

export interface AudienceRow {
  account_id: number;
  id: string;
  test: number;
  name: string;
  /** An `AudienceState`, or `deleting`. */
  state: string;
  size: number;
  received: number;
  /** Offset up to which the file is checked; -1 while the rows of an earlier check are removed. */
  checked: number;
  /** Rows up to there, with the header and empty ones. */
  lines: number;
  sheet: string | null;
  mapping: string | null;
  layout: string | null;
  row_count: number;
  recipients: number;
  faults: number;
  opted_out: number;
  failure: string | null;
  created_at: number;
  ended_at: number | null;
  /** 1: stored, 2: being removed, 0: gone. */
  has_file: number;
  /** Random text of the process that works on it. */
  claim: string | null;
  claimed_until: number;
  /** Name and filter of the segment whose contacts it has, in JSON; null for a file. */
  segment: string | null;
  /** Number of the last contact that was read. */
  segment_position: string | null;
}

export interface ContactRow {
  account_id: number;
  test: number;
  number: string;
  name: string | null;
  /** Lists and objects in JSON, as `JSON.stringify` writes them: filters look for parts of the text. */
  attributes: string;
  tags: string;
  consents: string;
  /** The granted ones of `consents`, such as `["sms:PROMO"]`. */
  granted: string;
  created_at: number;
  updated_at: number;
  revision: number;
}

export interface AlertRow {
  account_id: number;
  id: string;
  rule: string;
  rule_name: string;
  kind: string;
  subject: string;
  subject_name: string;
  state: string;
  value: number;
  threshold: number;
  opened_at: number;
  resolved_at: number | null;
  acknowledged_at: number | null;
  acknowledged_by: string | null;
  muted_until: number | null;
}

export interface CampaignRow {
  account_id: number;
  id: string;
  test: number;
  name: string;
  state: string;
  /** A `CampaignMessage` in JSON. */
  message: string;
  audience_id: string;
  throttle: number | null;
  send_window: string | null;
  scheduled_at: number | null;
  position: number;
  accepted: number;
  skipped: number;
  skips: string;
  is_fed: number;
  failure: string | null;
  /** Idempotency key of the next batch; null before the start and after the end. */
  batch_key: string | null;
  /** Time of the next batch, or of the start. */
  next_at: number;
  created_at: number;
  changed_at: number;
  started_at: number | null;
  ended_at: number | null;
  opted_out: number;
  /** Random text of the process that feeds it. */
  claim: string | null;
  claimed_until: number;
}

/** Counts of messages under a campaign name. `carrier` and `code` are empty, except in days. */
export interface CampaignFigureRow {
  account_id: number;
  name: string;
  test: number;
  grain: number;
  at: number;
  what: string;
  carrier: string;
  code: string;
  count: number;
}

interface CampaignCountRow {
  account_id: number;
  campaign_name: string;
  state: string;
  count: number;
}

interface OptOutRow {
  account_id: number;
  number: string;
  source: string;
  note: string | null;
  created_at: number;
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
  changes: string | null;
}

export interface MessageRow {
  account_id: number;
  request_id: string;
  n: number;
  /** The requested channel, if the message was sent by another one. */
  asked_channel: string | null;
  asked_sender: string | null;
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
  /** State of its credits: 0 free, 1 held, 2 spent, 3 refunded. */
  charge: number;
  /**
   * Effect of the last transition on them: 0 none, 1 spent, 2 refunded while held, 3 refunded after they were spent; plus 4
   * if it was the first proof that a carrier has the message; plus 8 times the place of the state that it left, for a message of
   * a campaign on PostgreSQL.
   */
  charge_change: number;
  tried: string | null;
  /** The timeline. */
  trail: string | null;
  operator: string | null;
  circle: string | null;
  repeats: number;
  /** JSON of a `MessageCallback`. */
  callback: string | null;
}

/** A range of an account's messages: those after one position, up to and including another. */
export interface SearchBlockRow {
  account_id: number;
  block: number;
  after_request_id: string;
  after_n: number;
  last_request_id: string;
  last_n: number;
  /** Null once it is firm: later changes of its messages are noted in `search_changes`. */
  firm_after: number | null;
  messages: number;
  /** 0 once the texts are erased, and with them the template names. */
  has_texts: number;
  /** Changes with every summary, so that of two nodes one writes. */
  version: string;
}

/** Messages of a block that have these fields in common. */
export interface SearchZoneRow {
  account_id: number;
  block: number;
  zone: number;
  lane: number;
  test: number;
  /** Null with `channel` while a message may change: status, channel and template name are then unknown, as any name is. */
  status: string | null;
  channel: string | null;
  /** One of `ZONE_KIND`. */
  named: number;
  campaign_name: string | null;
  template_name: string | null;
  messages: number;
  /** The request ids between which these messages lie, inclusive. */
  first_id: string;
  last_id: string;
}

export interface UnmatchedReceiptRow {
  id: Generated<number>;
  carrier: string;
  carrier_message_id: string;
  channel: string | null;
  state: string;
  error_code: string | null;
  description: string | null;
  at: number;
  parked_at: number;
  /** Account of the carrier connection; null for the shared simulator. */
  account_id: number | null;
  other_ids: string | null;
  /** Empty if the receipt names no number. */
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
  /** Commit order among the callbacks of its message. */
  seq: number;
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
  /** 1 if wrong codes count against the number. */
  bound: number;
  failures_per_hour: number;
  failures_per_day: number;
  test: number;
  created_at: number;
  expires_at: number;
  done_at: number | null;
  next_at: number | null;
  plan: string | null;
  /** Counter that its send was counted in; empty for a fixed code. */
  counted: string;
  /** Number of owed codes that its use settles (pumping guard). */
  pays: number;
  /** 1 if a webhook subscribes to its end. */
  followed: number;
}

/** Pumping guard of a number prefix: owed codes and block. */
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
  /** Length of the period, in milliseconds. */
  grain: number;
  /** Start of the period. */
  at: number;
  what: string;
  channel: string;
  route_class: string;
  code: string;
  count: number;
}

/** Statistics of one carrier or country. */
export interface FigureGroupRow extends Omit<FigureRow, "route_class"> {
  dimension: string;
  name: string;
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
  /** 1 where a test key sent it. */
  test: number;
}
