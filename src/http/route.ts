import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../accounts/caller.ts";
import type { Keyring } from "../accounts/keyring.ts";
import type { LogInDeps } from "../accounts/log-in.ts";
import type { OpenSession } from "../accounts/sessions.ts";
import type { Catalog } from "../records/catalog.ts";
import type { WebhookCarriers, ConnectionTest } from "../carriers/carrier.ts";
import type { SimulatorCarrier } from "../carriers/simulator/carrier.ts";
import type { PhoneFeeds } from "../carriers/simulator/phone-feeds.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Infer, Schema } from "../lib/schema.ts";
import type { Follow } from "../links/follow.ts";
import type { SendGate } from "../pipeline/accept/send-gate.ts";
import type { SimulatedLive } from "../pipeline/dispatch/simulated-live.ts";
import type { AcceptDeps } from "../pipeline/accept/accept.ts";
import type { CampaignDeps } from "../pipeline/campaigns.ts";
import type { PrepareDeps } from "../pipeline/accept/prepare.ts";
import type { ReceiptDeps } from "../pipeline/receipts/apply-receipt.ts";
import type { Role } from "../model/account.ts";
import type { Scope } from "../model/api-key.ts";
import type { LoginAction } from "../model/audit.ts";
import type { RealCarrierContent } from "../model/catalog.ts";
import type { SmsLimits } from "../model/message.ts";
import type { CredentialKind, StoredCredential } from "../model/credential.ts";
import type { Fault, ProblemCode } from "../model/problem.ts";
import type { Store } from "../store/store.ts";
import type { CheckOtpDeps } from "../otp/check.ts";
import type { GenerateOtpDeps } from "../otp/generate.ts";
import type { DeliverDeps } from "../webhooks/deliver.ts";
import type { WebhookDispatcher } from "../webhooks/dispatcher.ts";
import type { Live } from "../stats/live.ts";
import type { Metrics } from "../metrics.ts";
import type { AgentCalls } from "./agents/agent-calls.ts";
import type { SystemState } from "./admin/system.ts";
import type { BodyFaults, CheckedFields } from "./check-body.ts";
import type { EventStreams } from "./event-stream.ts";
import type { BodyBudget, BodyLease } from "./body-budget.ts";
import type { ConnectionLimits } from "./connection-limits.ts";
import type { JsonText } from "./envelope.ts";
import type { RequestLog } from "./request-log/request-log.ts";
import type { ProxyWarning } from "./proxy-warning.ts";
import type { RequestAge } from "../pipeline/accept/request-age.ts";
import type { Warning } from "../model/warning.ts";
import type { ImageFetch } from "../egress/image-fetch.ts";
import type { MediaLibrary } from "../media/library.ts";
import type { MediaTokens } from "../media/signed-url.ts";
import type { StopGuard } from "../pipeline/dispatch/stop-guard.ts";

/** The rules of the facades for the settings of their credentials. */
interface CredentialSettings {
  faults(kind: CredentialKind, given: Readonly<Record<string, unknown>>): Fault[];
  change(before: StoredCredential["settings"], given: Readonly<Record<string, unknown>>): StoredCredential["settings"];
}

/** Everything that a route handler may use of the application. */
export interface Services {
  store: Store;
  keyring: Keyring;
  loginDeps: LogInDeps;
  credentialSettings: CredentialSettings;
  catalog: Catalog;
  campaignDeps: CampaignDeps;
  prepareDeps: PrepareDeps;
  acceptDeps: AcceptDeps;
  otpDeps: GenerateOtpDeps & CheckOtpDeps;
  receiptDeps: ReceiptDeps;
  smsRules: SmsLimits;
  audienceLimits: { bytesMax: number; filesMax: number; countMax: number; campaignsMax: number };
  media: MediaLibrary;
  mediaTokens: MediaTokens;
  stopGuard: StopGuard;
  requestAge: RequestAge;
  simulator: SimulatorCarrier;
  phoneFeeds: PhoneFeeds;
  carriers: WebhookCarriers;
  /** Tests the connection to a carrier; null for carriers that only a message can test. */
  testConnection(content: RealCarrierContent): Promise<ConnectionTest | null>;
  deliverDeps: DeliverDeps;
  /** Null on a node that delivers no webhooks. */
  webhookDispatcher: WebhookDispatcher | null;
  links: Follow;
  /** Pictures of other servers, for the dashboard. */
  images: ImageFetch;
  metrics: Metrics;
  /** Bearer token of `/metrics`; null if it is public. */
  metricsKey: string | null;
  live: Live;
  streams: EventStreams;
  requestLog: RequestLog;
  agentCalls: AgentCalls;
  system(): SystemState;
  proxyWarning: ProxyWarning;
  connections: ConnectionLimits;
  /** Memory of all request bodies. */
  bodies: BodyBudget;
  gate: Pick<SendGate, "isDiskFull" | "isHeld" | "refusal" | "warnings">;
  /** Null where the database is not a file of this node. */
  integrity: { readonly warnings: readonly Warning[] } | null;
  simulatedLive: Pick<SimulatedLive, "warningsFor">;
  /** Yields to the event loop before a bulk request is prepared. */
  yieldBulk(): Promise<void>;
  clock: Clock;
  log: Log;
  /** The server's public address, without a slash at the end. */
  baseUrl(): string;
  /** Prefix of short links; a slash and the code follow. */
  shortLinkBase(): string;
  /** Lifetime of the browsers' memory to use only https; 0 for none. */
  hstsSeconds: number;
  /** False until the first account and its keys are loaded. */
  started(): boolean;
  /** Resolves when `started` turns true. */
  untilStarted(): Promise<void>;
  /** Aborted when the node starts to drain: it still responds, and closes each connection after its response. */
  draining: AbortSignal;
  /** Aborted when the server starts to stop: long requests, such as streams, must end. */
  stopping: AbortSignal;
}

/** One parsed request. */
export interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
  body: unknown;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string | undefined>>;
  /** Notes the view of a resource before it is changed, for the audit log. */
  noteBefore?: (view: object) => void;
}

/** An authenticated request. */
export interface AuthenticCall extends Call {
  caller: Caller;
}

/** A request of a logged-in person. */
export interface PersonalCall extends AuthenticCall {
  caller: Caller & { session: OpenSession };
}

/** The part of a request that a send uses. Both HTTP paths provide it. */
export interface SendCall {
  /** The fast path parses no others. */
  headers: { readonly "idempotency-key": string | string[] | undefined };
  body: unknown;
  caller: Caller;
  /** The memory that the request holds. */
  lease: Pick<BodyLease, "holdMessages" | "waitedMs">;
  setHeader(name: string, value: string): void;
}

/** Form of an error body: `send` and `otp` have their envelopes around it, `plain` has only message and error. */
export type Family = "send" | "otp" | "plain";

/** A parameter with its type, a string unless `schema` says otherwise, and a value to show. */
export interface TypedParameter {
  meaning: string;
  schema?: Schema;
  example?: string | number | boolean;
  required?: true;
}

/** A parameter of the OpenAPI document; a text alone is the meaning of a string parameter. */
export type Parameter = string | TypedParameter;

/** A response that is neither the success nor an error with a problem code. */
export interface OtherResponse {
  description: string;
  contentType: string;
  schema: Schema;
  example: unknown;
}

/** Schemas with a `title` become components of the OpenAPI document; all others are inlined. */
interface Documented {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Fastify's form: parameters as `:name`. */
  path: string;
  family: Family;
  /** Heading in the reference. */
  group: string;
  summary: string;
  description: string;
  /** Left out of the reference: a page, not an operation. */
  hidden?: true;
  /** Status of a success, if it is not 200. */
  status?: 201;
  params?: Readonly<Record<string, Parameter>>;
  query?: Readonly<Record<string, Parameter>>;
  headers?: Readonly<Record<string, Parameter>>;
  /** Problems of this operation; the reference adds those of authentication and of the body. */
  problems?: readonly ProblemCode[];
  body?: Schema;
  /** The body with limits as they are configured, for the document; where there is none, `body` has no such limits. */
  bodyFor?: (limits: SmsLimits) => Schema;
  /** False if the handler checks the body itself; otherwise it is checked against its schema first. */
  checkBody?: boolean;
  /** Lower limit of body bytes than the general one, for routes without authentication. */
  bodyBytesMax?: number;
  requestExamples?: Readonly<Record<string, unknown>>;
  /** Action name in the audit log, if it is not method and path; false for operations that change nothing. */
  audit?: LoginAction | false;
  /** Content type of a success, if it is not JSON. */
  contentType?: string;
  response: Schema | null;
  responseExample: unknown;
  /** Further responses by status, for errors without the API's envelope. */
  otherResponses?: Readonly<Record<number, OtherResponse>>;
}

/** Required API key. Every route must decide about test keys, so that none is open to them by accident. */
export interface KeyRule {
  scope: Scope;
  /** Scope that a test key needs; null refuses test keys. A route with a scope neither shows nor changes live data. */
  testKeys: Scope | null;
  /** Refuses every API key: only logged-in people may do it. */
  peopleOnly?: true;
}

/** A route that needs an API key with a scope, or a person with a role. */
export interface KeyedRoute extends Documented, KeyRule {
  /** The handler gets the body as a stream, of these content types or in a form with one file. */
  upload?: readonly string[];
  /** Lowest role of a person, if it differs from the default of `roleOf`. */
  role?: Role;
  /** Shows or changes the account, keys or credentials: changes of other nodes are read first. */
  readsKeyring?: true;
  /** Checks beyond the schema, on the fields that match it. The handler runs only without faults. */
  bodyFaults?(fields: CheckedFields, services: Services, call: AuthenticCall): BodyFaults;
  handle(services: Services, call: AuthenticCall): Promise<unknown>;
}

/** A route without authentication. */
export interface OpenRoute extends Documented {
  scope: null;
  /** Security scheme of a bearer token that the operator can require. */
  bearer?: "metrics";
  /** The handler gets the body as bytes, whatever its content type. */
  raw?: true;
  /** Can refuse a request by its path, before the body is read. */
  before?(services: Services, params: Readonly<Record<string, string>>): void;
  /** As on a keyed route. */
  bodyFaults?(fields: CheckedFields, services: Services, call: Call): BodyFaults;
  handle(services: Services, call: Call): Promise<unknown>;
}

/** A route for logged-in people of any role, about their own login. */
export interface PersonalRoute extends Documented {
  scope: null;
  personal: true;
  /** As on a keyed route. */
  bodyFaults?(fields: CheckedFields, services: Services, call: PersonalCall): BodyFaults;
  handle(services: Services, call: PersonalCall): Promise<unknown>;
}

/** A send: the fast path handles ordinary requests to it. */
export interface SendRoute extends Documented, KeyRule {
  role?: Role;
  fastPath: true;
  handle(services: Services, call: SendCall): Promise<JsonText>;
}

/** A call whose body has the static type of a schema. */
export type WithBody<C extends { body: unknown }, S extends Schema> = Omit<C, "body"> & { body: Infer<S> };

interface TypedBody<C extends { body: unknown }, S extends Schema> {
  body: S;
  bodyFaults?(fields: CheckedFields<Infer<S>>, services: Services, call: C): BodyFaults;
  handle(services: Services, call: WithBody<C, S>): Promise<unknown>;
}

type TypedRoute<R extends Documented, C extends { body: unknown }, S extends Schema> = Omit<
  R,
  "body" | "bodyFaults" | "handle"
> &
  TypedBody<C, S>;

/** Gives the handler's `body` the static type of the route's schema, which has checked it. */
export const keyedRoute = <S extends Schema>(route: TypedRoute<KeyedRoute, AuthenticCall, S>): KeyedRoute => route;
export const personalRoute = <S extends Schema>(route: TypedRoute<PersonalRoute, PersonalCall, S>): PersonalRoute =>
  route;
export const openRoute = <S extends Schema>(route: TypedRoute<OpenRoute, Call, S>): OpenRoute => route;

export type ProtectedRoute = KeyedRoute | SendRoute;
export type Route = ProtectedRoute | PersonalRoute | OpenRoute;

export const isPersonal = (route: Route): route is PersonalRoute => "personal" in route;

/** Lowest role of a person: viewer for reads and member for changes, unless the route says otherwise. */
export const roleOf = ({ method, role }: ProtectedRoute): Role => role ?? (method === "GET" ? "viewer" : "member");
