import { derivedId } from "../lib/ids.ts";
import { memoize } from "../lib/memoize.ts";
import { LETTERS_AND_DIGITS, randomText } from "../lib/random.ts";
import { SCOPES, type ApiKey, type KeyMode, type Scope } from "./api-key.ts";

/** The APIs of other products that a credential opens. */
export const CREDENTIAL_KINDS = ["twilio", "kannel", "jasmin", "smpp"] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];
/** `identity`: a hook that an identity product calls. It has a secret and no username. */
export type StoredKind = CredentialKind | "identity";

/** `key`: an API key in place of the account's own token, where the product has both. */
export const CREDENTIAL_FORMS = ["account", "key"] as const;
export type CredentialForm = (typeof CREDENTIAL_FORMS)[number];

/** A stored username and password for the API of another product, with the limits of an API key. */
export interface StoredCredential extends Omit<ApiKey, "hint" | "agent"> {
  kind: StoredKind;
  username: string;
  /** The encrypted password, where it also signs callbacks; null for the other kinds. */
  sealed: string | null;
  /** Settings of its kind. */
  settings: Readonly<Record<string, unknown>>;
}

/** A username and password that a person creates for a program. */
export type LoginCredential = StoredCredential & { kind: CredentialKind };

export const isLogin = (credential: StoredCredential): credential is LoginCredential => credential.kind !== "identity";

/** The scopes of a hook: it delivers codes that another product made. */
export const HOOK_SCOPES = ["verify", "verify:custom"] as const satisfies readonly Scope[];

/** The configuration is not open to these APIs. */
export const CREDENTIAL_SCOPES = SCOPES.filter((scope) => scope !== "manage");

/** The scopes that a kind has use for. */
export const SCOPES_OF_KIND: Readonly<Record<CredentialKind, readonly Scope[]>> = {
  twilio: ["sms", "rcs", "chatapp", "verify", "verify:custom", "read"],
  kannel: ["sms", "read"],
  jasmin: ["sms", "read"],
  smpp: ["sms", "read"],
};

const HEX = "0123456789abcdef";
const LOWER_AND_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
const SID_DIGITS = 32;

/** Twilio's name for an account: the same for all its credentials of one mode. */
export const twilioAccountSid = (accountId: number, mode: KeyMode): string => accountSid(`${accountId} ${mode}`);

const SIDS_MAX = 10_000;

/** Every request needs it several times. */
const accountSid = memoize(SIDS_MAX, (words) => `AC${derivedId(`twilio account ${words}`).replaceAll("-", "")}`);

/** Username and password as the clients of a kind can send them, each with 90 random bits or more in the password, except for SMPP. */
export function newLogin(
  kind: CredentialKind,
  form: CredentialForm,
  { accountId, mode }: Pick<ApiKey, "accountId" | "mode">,
): { username: string; password: string } {
  switch (kind) {
    case "twilio":
      return form === "key"
        ? { username: `SK${randomText(HEX, SID_DIGITS)}`, password: randomText(LETTERS_AND_DIGITS, 32) }
        : { username: twilioAccountSid(accountId, mode), password: randomText(HEX, 32) };
    case "jasmin":
      // Jasmin allows 16 characters for each.
      return { username: `jasmin${randomText(LOWER_AND_DIGITS, 8)}`, password: randomText(LETTERS_AND_DIGITS, 16) };
    case "smpp":
      // A system id has 15 characters, a password 8.
      return { username: `smpp${randomText(LOWER_AND_DIGITS, 8)}`, password: randomText(LETTERS_AND_DIGITS, 8) };
    case "kannel":
    default:
      return { username: `kannel${randomText(LOWER_AND_DIGITS, 8)}`, password: randomText(LETTERS_AND_DIGITS, 20) };
  }
}

/** The text whose digest is stored. The parts cannot run into each other, because no username has a line break. */
export const loginSecret = (kind: StoredKind, username: string, password: string): string =>
  `${kind}\n${username}\n${password}`;
