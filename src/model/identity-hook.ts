import type { StoredCredential } from "./credential.ts";

/** Identity products that make their codes themselves and call a hook to deliver them. */
export const IDENTITY_PRODUCTS = [
  "supabase",
  "zitadel",
  "authentik",
  "logto",
  "kratos",
  "auth0",
  "okta",
  "fusionauth",
] as const;
export type IdentityProduct = (typeof IDENTITY_PRODUCTS)[number];

/** The digits of a code in a rendered text. */
export const CODE_DIGITS_MIN = 4;
export const CODE_DIGITS_MAX = 10;

/** Settings of a hook, stored with its credential. */
export interface IdentityHookSettings {
  product: IdentityProduct;
  /** Id of the verification configuration. */
  configId: string;
  /** The length of codes in rendered texts; null for any. */
  codeDigits: number | null;
}

export const hookSettingsOf = ({ settings }: Pick<StoredCredential, "settings">): IdentityHookSettings =>
  settings as unknown as IdentityHookSettings;

export const hookPath = (product: IdentityProduct, id: string): string => `/hooks/identity/${product}/${id}`;
