import { pickSettings, readSettings, settingFields, settingsShape, type Settings } from "../../catalog/settings.ts";
import { Type } from "../../lib/schema.ts";
import { DEFAULT_SETTINGS, type Account } from "../../model/account.ts";
import type { KeyedRoute } from "../route.ts";

const accountView = ({ name, suspended, settings }: Account): object => ({
  name,
  suspended,
  ...pickSettings(settings),
});

const AccountView = Type.Object(
  {
    name: Type.String({ description: "The account's name." }),
    suspended: Type.Boolean({ description: "Whether the operator has stopped it." }),
    ...settingFields,
  },
  { title: "Account" },
);
const example = { name: "default", suspended: false, ...pickSettings(DEFAULT_SETTINGS) };
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
  role: "owner",
  summary: "Change the account's settings",
  description:
    "Changes the settings that are given. It takes effect at once here and within five seconds on every other node.",
  body: settingsShape,
  requestExamples: {
    "national numbers": { defaultRegion: "IN" },
    "forget texts after a week": { keepTextsDays: 7 },
  },
  responseExample: { ...example, defaultRegion: "IN" },
  handle: async ({ store, keyring }, { body, caller }) => {
    const { account } = caller;
    const change = readSettings(body as Partial<Settings>, account.settings);
    await store.saveSettings(account.id, change);
    await keyring.refresh();
    return accountView(keyring.account(account.id) ?? account);
  },
};
