import { pickSettings, settingFields, settingsFaults, settingsShape } from "../../records/settings.ts";
import { Type } from "../../lib/schema.ts";
import { DEFAULT_SETTINGS, type Account } from "../../model/account.ts";
import { refuseCreditSetting } from "../credit-setting.ts";
import { keyedRoute, type KeyedRoute, type Services } from "../route.ts";
import { warningShape } from "../warning-shape.ts";

const accountView = ({ simulatedLive, gate }: Services, { id, name, suspended, settings }: Account): object => ({
  name,
  suspended,
  ...pickSettings(settings),
  warnings: [...gate.warnings, ...simulatedLive.warningsFor(id)],
});

const AccountView = Type.Object(
  {
    name: Type.String({ description: "Account name." }),
    suspended: Type.Boolean({ description: "True if the operator has suspended the account." }),
    ...settingFields,
    warnings: Type.Array(warningShape, {
      description: "Warnings about the account, as seen by the node that responds.",
    }),
  },
  { title: "Account" },
);
const example = { name: "default", suspended: false, ...pickSettings(DEFAULT_SETTINGS), warnings: [] };
const common = {
  path: "/api/account",
  family: "plain",
  scope: "manage",
  testKeys: null,
  group: "Account",
  readsKeyring: true,
  response: AccountView,
} as const;

export const getAccount: KeyedRoute = {
  ...common,
  method: "GET",
  summary: "Get the account",
  description: "Returns the account that the key belongs to, with its settings.",
  responseExample: example,
  handle: async (services, { caller }) => accountView(services, caller.account),
};

export const patchAccount = keyedRoute({
  ...common,
  method: "PATCH",
  role: "owner",
  summary: "Update account settings",
  description:
    "Changes only the settings in the request. Takes effect at once on this node and within five seconds on all others.",
  body: settingsShape,
  requestExamples: {
    "national numbers": { defaultRegion: "IN" },
    "delete texts after a week": { keepTextsDays: 7 },
  },
  responseExample: { ...example, defaultRegion: "IN" },
  bodyFaults: ({ right, wrong }, _services, { caller: { account } }) => settingsFaults(right, account.settings, wrong),
  handle: async (services, { body, caller, noteBefore }) => {
    const { store, keyring } = services;
    const { account } = caller;
    const change = pickSettings(body);
    refuseCreditSetting(caller, change.credits);
    noteBefore?.(account.settings);
    await store.saveSettings(account.id, change);
    await keyring.refresh();
    return accountView(services, keyring.account(account.id) ?? account);
  },
});
