import type { Schema } from "../../lib/schema.ts";
import type { RealAdapter, ConnectionsByAdapter } from "../../model/catalog.ts";
import type { Channel } from "../../model/message.ts";
import type { Fault } from "../../model/problem.ts";
import type { SecretFactory } from "../record-type.ts";
import { emailConnection } from "./email-connection.ts";
import { httpConnection } from "./http-connection.ts";
import { rbmConnection } from "./rbm-connection.ts";
import { smppConnection } from "./smpp-connection.ts";
import { whatsappConnection } from "./whatsapp-connection.ts";

/** Definition of the connection settings of one adapter. */
export interface ConnectionType<Line extends object = object> {
  /** Display name of the protocol. */
  title: string;
  /** Supported channels; routes of other channels may not use it. */
  channels: readonly Channel[];
  /** Schema of requests, and of responses. */
  requestSchema: Schema;
  responseSchema: Schema;
  /** Validates a request and adds faults. New secrets are not encrypted yet; omitted ones are kept from `stored`. */
  read(fields: object, known: Line | null, faults: Fault[], stored: Line | null): Line;
  /** Encrypts new secrets and keeps omitted ones. */
  complete(read: Line, before: Line | null, secrets: SecretFactory): Line;
  /** Settings without secrets. */
  show(line: Line): object;
}

const CONNECTION_TYPES: { readonly [A in RealAdapter]: ConnectionType<ConnectionsByAdapter[A]> } = {
  smpp: smppConnection,
  whatsapp: whatsappConnection,
  rbm: rbmConnection,
  http: httpConnection,
  email: emailConnection,
};

export const ADAPTERS = Object.keys(CONNECTION_TYPES) as readonly RealAdapter[];

/** Definition for an adapter known only by name. */
export const connectionType = (adapter: RealAdapter): ConnectionType => CONNECTION_TYPES[adapter];
