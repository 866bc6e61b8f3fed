import {
  IconAddressBook,
  IconBan,
  IconBook,
  IconBrandHipchat,
  IconCoins,
  IconDeviceMobile,
  IconDeviceMobileMessage,
  IconFileSettings,
  IconFileText,
  IconGauge,
  IconHeartbeat,
  IconKey,
  IconLink,
  IconListSearch,
  IconMessage,
  IconMessages,
  IconPencil,
  IconRobot,
  IconRocket,
  IconRoute,
  IconSettings,
  IconShieldCheck,
  IconSpeakerphone,
  IconTool,
  IconUsers,
  IconWaveSine,
  IconWebhook,
  type Icon,
} from "@tabler/icons-react";

export interface NavEntry {
  label: string;
  icon: Icon;
  /** Where it leads; a heading that opens has `children` in its place. */
  path?: string;
  children?: readonly NavEntry[];
  /** Further words by which the palette finds it. */
  keywords?: string;
}

/** What the side bar shows. The words under "Message app" and "RCS" are those of the API's documentation: keep them. */
export const NAV: readonly NavEntry[] = [
  { label: "Get started", icon: IconRocket, path: "/start", keywords: "first message curl key" },
  { label: "Overview", icon: IconGauge, path: "/overview", keywords: "statistics charts dashboard" },
  { label: "Messages", icon: IconListSearch, path: "/messages", keywords: "log search export csv" },
  { label: "Compose", icon: IconPencil, path: "/composer", keywords: "send write sms rcs chat app" },
  { label: "Virtual phones", icon: IconDeviceMobile, path: "/phones", keywords: "simulated reply tap otp" },
  { label: "Simulator", icon: IconWaveSine, path: "/simulator", keywords: "chaos magic numbers failures" },
  { label: "Verify", icon: IconShieldCheck, path: "/verify", keywords: "otp one-time password codes" },
  { label: "Campaigns", icon: IconSpeakerphone, path: "/campaigns", keywords: "pause funnel" },
  {
    label: "Message app",
    icon: IconMessage,
    children: [
      { label: "Templates", icon: IconFileText, path: "/message-app/templates", keywords: "sms text" },
      { label: "Senders", icon: IconAddressBook, path: "/message-app/senders", keywords: "sms originator" },
      { label: "Short links", icon: IconLink, path: "/message-app/links", keywords: "clicks url" },
      {
        label: "Utility Manager",
        icon: IconTool,
        children: [
          {
            label: "DLR Push Configuration",
            icon: IconWebhook,
            path: "/message-app/utility-manager/dlr-push-configuration",
            keywords: "delivery report callback add configuration",
          },
          {
            label: "Webhook",
            icon: IconWebhook,
            path: "/message-app/utility-manager/webhook",
            keywords: "sms incoming texts clicks add webhook",
          },
        ],
      },
    ],
  },
  {
    label: "RCS",
    icon: IconMessages,
    children: [
      { label: "Bots", icon: IconRobot, path: "/rcs/bots", keywords: "rcs sender" },
      { label: "Templates", icon: IconFileText, path: "/rcs/templates", keywords: "rcs card carousel" },
      {
        label: "Utility",
        icon: IconTool,
        children: [
          {
            label: "Webhook",
            icon: IconWebhook,
            path: "/rcs/utility/webhook",
            keywords: "callback events add webhook",
          },
        ],
      },
    ],
  },
  {
    label: "Chat app",
    icon: IconBrandHipchat,
    children: [
      { label: "Numbers", icon: IconDeviceMobileMessage, path: "/chat-app/numbers", keywords: "business number" },
      { label: "Templates", icon: IconFileText, path: "/chat-app/templates", keywords: "chat app header buttons" },
      {
        label: "Utility",
        icon: IconTool,
        children: [
          {
            label: "Webhook",
            icon: IconWebhook,
            path: "/chat-app/utility/webhook",
            keywords: "callback events add webhook",
          },
        ],
      },
    ],
  },
  {
    label: "Operations",
    icon: IconHeartbeat,
    children: [
      {
        label: "Callback deliveries",
        icon: IconWebhook,
        path: "/operations/callbacks",
        keywords: "webhook attempts resend",
      },
      {
        label: "Carriers and routes",
        icon: IconRoute,
        path: "/operations/carriers",
        keywords: "prices smpp binds health",
      },
      { label: "Opt-outs", icon: IconBan, path: "/operations/opt-outs", keywords: "stop unsubscribe" },
      { label: "Credits", icon: IconCoins, path: "/operations/credits", keywords: "balance ledger" },
      {
        label: "Set-up file",
        icon: IconFileSettings,
        path: "/operations/set-up",
        keywords: "export import apply config",
      },
      { label: "System", icon: IconHeartbeat, path: "/operations/system", keywords: "health nodes queue depth" },
    ],
  },
];

/** What belongs to whoever is signed in; it stands in the menu at the top right. */
export const ACCOUNT_NAV: readonly NavEntry[] = [
  { label: "API keys", icon: IconKey, path: "/account/keys", keywords: "apikey secret rotate scopes" },
  { label: "Users", icon: IconUsers, path: "/account/users", keywords: "invite roles members" },
  { label: "Audit log", icon: IconListSearch, path: "/account/audit", keywords: "changes who when" },
  { label: "Settings", icon: IconSettings, path: "/account/settings", keywords: "retention zone stop words countries" },
  { label: "My account", icon: IconShieldCheck, path: "/account/me", keywords: "password two-factor totp" },
];

/** The reference is served by the same server, outside of this app. */
export const DOCS = { label: "API reference", icon: IconBook, path: "/docs" } as const;

interface Destination {
  path: string;
  label: string;
  icon: Icon;
  /** The headings above it, such as "RCS → Utility". */
  trail: string;
  keywords: string;
}

/** Every place that can be gone to, with the headings above it. */
export function destinations(entries: readonly NavEntry[], above: readonly string[] = []): Destination[] {
  return entries.flatMap(({ label, icon, path, children, keywords = "" }) => [
    ...(path === undefined ? [] : [{ path, label, icon, trail: above.join(" → "), keywords }]),
    ...destinations(children ?? [], [...above, label]),
  ]);
}
