import { isSupportedCountry } from "libphonenumber-js/max";
import Type from "typebox";
import type { Account, AccountSettings } from "../../model/account.ts";
import { Problem } from "../../model/problem.ts";
import type { KeyedRoute } from "../route.ts";

const accountView = ({ name, suspended, settings }: Account): object => ({
  name,
  suspended,
  numbers: settings.numbers,
  defaultRegion: settings.defaultRegion,
});

const settings = {
  numbers: Type.Union([Type.Literal("lenient"), Type.Literal("strict")], {
    description: "strict refuses numbers at the door that no country could have given out.",
  }),
  defaultRegion: Type.Union([Type.String({ pattern: "^[A-Z]{2}$" }), Type.Null()], {
    description: "Country in which numbers without a plus may be written nationally, like IN.",
  }),
};

const AccountView = Type.Object(
  {
    name: Type.String({ description: "The account's name." }),
    suspended: Type.Boolean({ description: "Whether the operator has stopped it." }),
    ...settings,
  },
  { title: "Account" },
);
const example = { name: "default", suspended: false, numbers: "lenient", defaultRegion: null };
const common = {
  path: "/api/account",
  family: "plain",
  scope: "manage",
  group: "Account",
  response: AccountView,
} as const;

export const getAccount: KeyedRoute = {
  ...common,
  method: "GET",
  summary: "Read the account",
  description: "The account that the key belongs to, with its settings.",
  responseExample: example,
  handle: async (_services, { caller }) => accountView(caller.account),
};

export const patchAccount: KeyedRoute = {
  ...common,
  method: "PATCH",
  summary: "Change the account's settings",
  description: "Changes the settings that are given.",
  body: Type.Partial(Type.Object(settings)),
  requestExamples: { "national numbers": { defaultRegion: "IN" } },
  responseExample: { ...example, defaultRegion: "IN" },
  handle: async ({ store, keyring }, { body, caller }) => {
    const { numbers, defaultRegion } = body as Partial<Pick<AccountSettings, "numbers" | "defaultRegion">>;
    if (defaultRegion && !isSupportedCountry(defaultRegion)) {
      throw new Problem("INVALID_REQUEST", {
        faults: [{ parameter: "defaultRegion", message: "defaultRegion is a country's two-letter code, like IN." }],
      });
    }
    await store.saveSettings(caller.account.id, {
      ...(numbers === undefined ? {} : { numbers }),
      ...(defaultRegion === undefined ? {} : { defaultRegion }),
    });
    await keyring.refresh();
    return accountView(keyring.account(caller.account.id) ?? caller.account);
  },
};
