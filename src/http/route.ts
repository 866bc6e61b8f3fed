import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../accounts/caller.ts";
import type { Keyring } from "../accounts/keyring.ts";
import type { LogInNeeds } from "../accounts/log-in.ts";
import type { OpenSession } from "../accounts/sessions.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CalledCarriers, LineTrial } from "../carriers/carrier.ts";
import type { SimulatorCarrier } from "../carriers/simulator/simulator-carrier.ts";
import type { SmsRules } from "../channels/sms/read.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Schema } from "../lib/schema.ts";
import type { Follow } from "../links/follow.ts";
import type { AcceptNeeds } from "../messages/accept.ts";
import type { CampaignNeeds } from "../messages/campaign.ts";
import type { PrepareNeeds } from "../messages/prepare.ts";
import type { ReportNeeds } from "../messages/report.ts";
import type { Role } from "../model/account.ts";
import type { Scope } from "../model/api-key.ts";
import type { DoorAction } from "../model/audit.ts";
import type { RealCarrierContent } from "../model/catalog.ts";
import type { ProblemCode } from "../model/problem.ts";
import type { Store } from "../store/store.ts";
import type { CheckNeeds } from "../verify/check.ts";
import type { GenerateNeeds } from "../verify/generate.ts";
import type { TellNeeds } from "../webhooks/tell.ts";
import type { Teller } from "../webhooks/teller.ts";
import type { Live } from "../work/live.ts";
import type { Meters } from "../work/meters.ts";
import type { SystemState } from "./api/system.ts";
import type { JsonText } from "./envelope.ts";
import type { ProxyWatch } from "./proxy-watch.ts";

/** All that a door may need of the house. */
export interface Services {
  store: Store;
  keyring: Keyring;
  people: LogInNeeds;
  catalog: Catalog;
  campaigning: CampaignNeeds;
  preparing: PrepareNeeds;
  accepting: AcceptNeeds;
  verifying: GenerateNeeds & CheckNeeds;
  reporting: ReportNeeds;
  smsRules: SmsRules;
  simulator: SimulatorCarrier;
  carriers: CalledCarriers;
  /** Tries whether the other end of a line would have us, and says what happened; null where only a message can show it. */
  tryLine(content: RealCarrierContent): Promise<LineTrial | null>;
  telling: TellNeeds;
  /** Null where this node calls nobody back. */
  teller: Teller | null;
  links: Follow;
  meters: Meters;
  live: Live;
  system(): SystemState;
  proxies: ProxyWatch;
  /** Resolves when it is the turn of the next large request. */
  bulkTurn(): Promise<void>;
  clock: Clock;
  log: Log;
  /** The server's public address, without a slash at the end. */
  baseUrl(): string;
  /** What short links begin with; the code follows after a slash. */
  shortLinkBase(): string;
  /** False until the first account and its keys are known. */
  started(): boolean;
  /** Aborted once the server has begun to stop: whoever waits should come to an end. */
  stopping: AbortSignal;
}

/** One request, with what has been learned about it on the way in. */
export interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
  body: unknown;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string | undefined>>;
}

/** A request whose key or session has been checked. */
export interface AuthenticCall extends Call {
  caller: Caller;
}

/** A request of a person. */
export interface PersonalCall extends AuthenticCall {
  caller: Caller & { session: OpenSession };
}

/** What a send needs to know of its request; any door can give it. */
export interface SendCall {
  /** Those that a handler may want; the express door reads no others. */
  headers: { readonly "idempotency-key": string | string[] | undefined };
  body: unknown;
  caller: Caller;
  setHeader(name: string, value: string): void;
}

/** The body of a failure: `send` and `otp` have their envelopes around it, `plain` only text and error. */
export type Family = "send" | "otp" | "plain";

/** A parameter as the reference tells it: its meaning alone, or with a value to show. */
export type Parameter = string | { meaning: string; example: string; required?: true };

/** Schemas with a `title` stand once in the reference, under that name; all others where they are used. */
interface Documented {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Fastify's form: parameters as `:name`. */
  path: string;
  family: Family;
  /** The heading it stands under in the reference. */
  group: string;
  summary: string;
  description: string;
  /** Left out of the reference: a page, not an operation. */
  hidden?: true;
  /** The status of a success that is not 200. */
  status?: 201;
  params?: Readonly<Record<string, Parameter>>;
  query?: Readonly<Record<string, Parameter>>;
  headers?: Readonly<Record<string, Parameter>>;
  /** What can be wrong here and not everywhere; the reference adds what follows from the key and the body. */
  problems?: readonly ProblemCode[];
  body?: Schema;
  /** Whether the body is checked against its schema before the handler runs; a door that reads by itself says false. */
  checkBody?: boolean;
  requestExamples?: Readonly<Record<string, unknown>>;
  /** What the log of changes calls it, where that is not its method and path; false where nothing is changed by it. */
  audit?: DoorAction | false;
  /** The type of a success that is not JSON. */
  contentType?: string;
  response: Schema | null;
  responseExample: unknown;
}

/** A door that asks for a key with a scope, or for a person with a role. */
export interface KeyedRoute extends Documented {
  scope: Scope;
  /** The role that a person needs at the least, where it is another than the method says: see `roleOf`. */
  role?: Role;
  handle(services: Services, call: AuthenticCall): Promise<unknown>;
}

/** A door that is open to anybody. */
export interface OpenRoute extends Documented {
  scope: null;
  /** Its body comes to it as bytes, whatever it says that it is. */
  raw?: true;
  handle(services: Services, call: Call): Promise<unknown>;
}

/** A door for people alone, about themselves: whoever is logged in may pass. */
export interface PersonalRoute extends Documented {
  scope: null;
  personal: true;
  handle(services: Services, call: PersonalCall): Promise<unknown>;
}

/** A door for sends: ordinary requests to it take the express door, without the framework. */
export interface SendRoute extends Documented {
  scope: Scope;
  role?: Role;
  express: true;
  handle(services: Services, call: SendCall): Promise<JsonText>;
}

export type ProtectedRoute = KeyedRoute | SendRoute;
export type Route = ProtectedRoute | PersonalRoute | OpenRoute;

export const isPersonal = (route: Route): route is PersonalRoute => "personal" in route;

/** Who may pass: who looks needs to be a viewer, who changes something a member, unless the route says otherwise. */
export const roleOf = ({ method, role }: ProtectedRoute): Role => role ?? (method === "GET" ? "viewer" : "member");
