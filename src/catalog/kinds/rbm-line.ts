import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import { ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import {
  RBM_DEFAULTS,
  readServiceAccount,
  type RbmLine,
  type RbmSecrets,
  type RbmSettings,
} from "../../model/rbm-line.ts";
import { misspelt } from "../misspelt.ts";
import type { Mint } from "../record-kind.ts";
import type { LineKind } from "./lines.ts";
import { sealed } from "./sealed.ts";

/** A line as people give it: what is not given stays, or has its default. */
export type RbmFields = Partial<
  Omit<RbmSettings, "ttlSeconds"> & { ttlSeconds: Partial<RbmSettings["ttlSeconds"]> } & RbmSecrets
>;

/** A line as it was read, with the secrets that were given and are not sealed yet. */
export interface ReadRbmLine extends RbmLine {
  given?: Partial<RbmSecrets>;
}

const PARAMETER = "rbm";
const URL_MAX = 500;
const KEY_FILE_MAX = 20_000;
const CLIENT_TOKEN_MAX = 500;
const TTL_MAX_SECONDS = 2_592_000;
const EMAIL_MAX = 401;

const number = (minimum: number, maximum: number, description: string): Schema =>
  Type.Integer({ minimum, maximum, description });
const text = (maxLength: number, description: string): Schema => Type.String({ maxLength, description });

const plainFields = {
  baseUrl: text(
    URL_MAX,
    `Where messages go; ${RBM_DEFAULTS.baseUrl} unless given. Regions have addresses of their own.`,
  ),
  tokenUrl: nullable(
    text(URL_MAX, ""),
    "Where the key opens the line; null, which it is unless given, is the address in the key.",
  ),
  clientEmail: text(EMAIL_MAX, "Of the service account. It follows from serviceAccount and need not be given."),
  capabilityCheck: Type.Boolean({
    description:
      "Whether the platform is asked first if it reaches the phone, so that a text can go at once; true unless given.",
  }),
  capabilityHours: number(1, 720, "How long its answer to that counts; 24 unless given."),
  trafficTypes: Type.Boolean({
    description: "Whether the platform is told what a message is for, by its type; true unless given.",
  }),
  connections: number(1, 500, "Requests under way at once, on each node; 50 unless given."),
  responseSeconds: number(1, 120, "How long an answer is waited for; 30 unless given."),
};

const ttlFields: Record<RouteClass, Schema> = {
  OTP: number(1, TTL_MAX_SECONDS, "Of one-time passwords; 60 unless given."),
  TRANS: number(1, TTL_MAX_SECONDS, "Of TRANS; 86400 unless given."),
  PROMO: number(1, TTL_MAX_SECONDS, "Of promotions; 86400 unless given."),
};
const TTL =
  "How long the platform tries to deliver at most, by type. It is never longer than the message is valid, or than its fallback waits.";

/** What an answer shows of a line. */
export const rbmShown = Type.Object({
  ...plainFields,
  ttlSeconds: Type.Object(ttlFields, { description: TTL }),
});

const given = {
  ...plainFields,
  ttlSeconds: Type.Partial(Type.Object(ttlFields), { description: TTL }),
  serviceAccount: text(
    KEY_FILE_MAX,
    "The key file of the service account, as the cloud console made it: the whole JSON as text. It is sealed, and never shown.",
  ),
  clientToken: text(
    CLIENT_TOKEN_MAX,
    "What you enter as client token of the webhook in the platform's console. It is sealed, and never shown.",
  ),
};

/** What people give of a line. */
export const rbmGiven = Type.Partial(Type.Object(given));

/** The line that somebody asks for; what is wrong with it goes to `faults`. */
export function readRbmLine(fields: RbmFields, known: RbmLine | null, faults: Fault[]): ReadRbmLine {
  const { serviceAccount, clientToken, ttlSeconds, ...plain } = fields;
  const before = { ...RBM_DEFAULTS, clientEmail: "", ...known };
  const line: ReadRbmLine = {
    ...before,
    ...pick(plain),
    clientEmail: before.clientEmail,
    ttlSeconds: { ...before.ttlSeconds, ...pickTtl(ttlSeconds ?? {}) },
    secrets: known?.secrets ?? { serviceAccount: "", clientToken: "" },
    given: {
      ...(serviceAccount === undefined ? {} : { serviceAccount }),
      ...(clientToken === undefined ? {} : { clientToken }),
    },
  };
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  checkNames(fields, fault);
  checkAddresses(line, fault);
  checkClientToken(clientToken, fault);
  return { ...line, clientEmail: readEmail(fields, before.clientEmail, fault) };
}

type Tell = (field: string, message: string) => void;

const pick = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(plainFields, name)));

const pickTtl = (ttl: Partial<RbmSettings["ttlSeconds"]>): Partial<RbmSettings["ttlSeconds"]> =>
  Object.fromEntries(ROUTE_CLASSES.flatMap((type) => (ttl[type] === undefined ? [] : [[type, ttl[type]]])));

/** A field that is misspelt would leave the line as it is without a word, and somebody in search of the reason. */
function checkNames(fields: RbmFields, fault: Tell): void {
  for (const name of misspelt(fields, (field) => Object.hasOwn(given, field)))
    fault(name, "A line to RCS for Business has no such field.");
  for (const name of misspelt(fields.ttlSeconds ?? {}, (field) => Object.hasOwn(ttlFields, field)))
    fault(`ttlSeconds.${name}`, "ttlSeconds has OTP, TRANS and PROMO.");
}

function checkAddresses({ baseUrl, tokenUrl }: RbmSettings, fault: Tell): void {
  const isRight = (written: string): boolean => {
    // The parser drops line ends and spaces at the ends, and what is stored is to be what is called.
    const address = /[\s\p{Cc}?#]/u.test(written) ? null : URL.parse(written);
    return /^https?:$/.test(address?.protocol ?? "") && address?.username === "" && address.password === "";
  };
  const rule = "is an address that begins with https://, without a user name, a question mark or a #";
  if (!isRight(baseUrl)) fault("baseUrl", `baseUrl ${rule}, like ${RBM_DEFAULTS.baseUrl}.`);
  if (tokenUrl !== null && !isRight(tokenUrl)) fault("tokenUrl", `tokenUrl ${rule}, or null for the one in the key.`);
}

function checkClientToken(clientToken: string | undefined, fault: Tell): void {
  if (clientToken !== undefined && !/^[\x21-\x7e]{8,}$/.test(clientToken))
    fault("clientToken", "clientToken has at least 8 letters, digits and signs, without spaces: make up a long one.");
}

/** The address is the key's, whatever else is given; a file that was exported has it without the key. */
function readEmail({ serviceAccount, clientEmail }: RbmFields, before: string, fault: Tell): string {
  const account = serviceAccount === undefined ? null : readServiceAccount(serviceAccount);
  if (account && "fault" in account) {
    fault("serviceAccount", `serviceAccount is the key file of a service account, and ${account.fault}.`);
    return before;
  }
  const email = account?.clientEmail ?? before;
  if (clientEmail !== undefined && email !== "" && clientEmail !== email)
    fault("clientEmail", "clientEmail is that of the key: leave it out, or give the other account's serviceAccount.");
  return email;
}

/** Seals what was given, and keeps what was not. */
export function completeRbmLine(
  { given: plain = {}, ...line }: ReadRbmLine,
  before: RbmLine | null,
  mint: Mint,
): RbmLine {
  const kept = before?.secrets;
  const faults: Fault[] = [];
  const secretOf = (name: keyof RbmSecrets): string => {
    const secret = plain[name] === undefined ? kept?.[name] : sealed(plain[name], kept?.[name], mint);
    if (secret === undefined)
      faults.push({
        parameter: `${PARAMETER}.${name}`,
        message: `${name} is required for a new line: exported files do not have it.`,
      });
    return secret ?? "";
  };
  const secrets: RbmSecrets = { serviceAccount: secretOf("serviceAccount"), clientToken: secretOf("clientToken") };
  if (before && plain.serviceAccount === undefined && leadsElsewhere({ ...RBM_DEFAULTS, ...before }, line))
    faults.push({
      parameter: `${PARAMETER}.serviceAccount`,
      message: "give the serviceAccount again: what it opens is only ever sent to the platform it was given for.",
    });
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  return { ...line, secrets };
}

/** Whether somebody else would get the token. What the platform signs with goes nowhere, and stays. */
const leadsElsewhere = (before: RbmSettings, after: RbmSettings): boolean =>
  before.baseUrl !== after.baseUrl || before.tokenUrl !== after.tokenUrl;

/** A line without its secrets; one that an earlier release stored has the defaults of what it could not know. */
export function showRbmLine(stored: RbmLine): RbmSettings {
  const { secrets: _, ...line } = stored;
  return { ...RBM_DEFAULTS, ...line };
}

/** RCS messages alone go to RCS for Business. */
export const rbmLine: LineKind<RbmLine> = {
  title: "RCS for Business",
  channels: ["rcs"],
  given: rbmGiven,
  shown: rbmShown,
  read: readRbmLine,
  complete: completeRbmLine,
  show: showRbmLine,
};
