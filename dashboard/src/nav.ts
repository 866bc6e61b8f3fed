import {
  IconAddressBook,
  IconBan,
  IconBell,
  IconBook,
  IconBrandHipchat,
  IconCoins,
  IconDeviceMobile,
  IconDeviceMobileMessage,
  IconFileSettings,
  IconFileText,
  IconFilter,
  IconFingerprint,
  IconFlask,
  IconHeartbeat,
  IconHome,
  IconInbox,
  IconKey,
  IconLink,
  IconListCheck,
  IconListDetails,
  IconListSearch,
  IconLogin2,
  IconMessage,
  IconMessages,
  IconPencil,
  IconPlugConnected,
  IconRobot,
  IconRocket,
  IconRoute,
  IconSettings,
  IconShieldCheck,
  IconSparkles,
  IconSpeakerphone,
  IconTool,
  IconUserCircle,
  IconUsers,
  IconUsersGroup,
  IconWaveSine,
  IconWebhook,
  type Icon,
} from "@tabler/icons-react";
import { t } from "./i18n/t.ts";

export interface NavEntry {
  label: string;
  icon: Icon;
  /** Path of the page. A heading that opens has `children` instead. */
  path?: string;
  children?: readonly NavEntry[];
  /** A second line that explains the label. */
  note?: string;
  /** Further search terms for the command palette. */
  keywords?: string;
  /** A count beside the label. */
  badge?: "unread";
  /** Served by this server, but not part of the single-page application. */
  isOutside?: true;
}

interface NavSection {
  /** Null for the everyday pages, which need no heading. */
  title: string | null;
  entries: readonly NavEntry[];
}

/** The side bar, by task. The names under "Message app" and "RCS" are those of the API documentation: keep them. */
export const NAV: readonly NavSection[] = [
  {
    title: null,
    entries: [
      { label: t("Home"), icon: IconHome, path: "/overview", keywords: "overview statistics charts dashboard" },
      { label: t("Get started"), icon: IconRocket, path: "/start", keywords: "first message curl key" },
      { label: t("Messages"), icon: IconListSearch, path: "/messages", keywords: "log search export csv" },
      {
        label: t("Inbox"),
        icon: IconInbox,
        path: "/inbox",
        badge: "unread",
        keywords: "conversations replies answers inbound chat",
      },
      { label: t("Compose"), icon: IconPencil, path: "/composer", keywords: "send write sms rcs chat app" },
      { label: t("Campaigns"), icon: IconSpeakerphone, path: "/campaigns", keywords: "pause funnel" },
      {
        label: t("Contacts"),
        icon: IconUsersGroup,
        children: [
          {
            label: t("All contacts"),
            icon: IconAddressBook,
            path: "/contacts",
            keywords: "people tags consent import",
          },
          { label: t("Segments"), icon: IconFilter, path: "/segments", keywords: "saved filter list" },
          {
            label: t("Audiences"),
            icon: IconUsersGroup,
            path: "/audiences",
            keywords: "upload csv file recipients list import",
          },
          {
            label: t("Canned replies"),
            icon: IconMessages,
            path: "/canned-replies",
            keywords: "inbox answers prepared texts",
          },
          { label: t("Opt-outs"), icon: IconBan, path: "/operations/opt-outs", keywords: "stop unsubscribe block" },
        ],
      },
      {
        label: t("Verify"),
        icon: IconShieldCheck,
        path: "/verify",
        keywords: "otp one-time password codes block prefix country",
      },
      {
        label: t("Templates"),
        icon: IconFileText,
        children: [
          {
            label: t("SMS templates"),
            icon: IconMessage,
            path: "/message-app/templates",
            keywords: "message app text dlt",
          },
          { label: t("RCS templates"), icon: IconMessages, path: "/rcs/templates", keywords: "card carousel" },
          {
            label: t("Chat app templates"),
            icon: IconBrandHipchat,
            path: "/chat-app/templates",
            keywords: "whatsapp header buttons",
          },
        ],
      },
    ],
  },
  {
    title: t("Channels"),
    entries: [
      {
        label: t("Message app"),
        note: "SMS",
        icon: IconMessage,
        children: [
          { label: t("Senders"), icon: IconAddressBook, path: "/message-app/senders", keywords: "sms originator" },
          { label: t("Short links"), icon: IconLink, path: "/message-app/links", keywords: "clicks url" },
          {
            label: t("Utility Manager"),
            icon: IconTool,
            children: [
              {
                label: t("DLR Push Configuration"),
                icon: IconWebhook,
                path: "/message-app/utility-manager/dlr-push-configuration",
                keywords: "delivery report callback add configuration",
              },
              {
                label: t("Webhook"),
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
          { label: t("Bots"), icon: IconRobot, path: "/rcs/bots", keywords: "rcs sender" },
          {
            label: t("Utility"),
            icon: IconTool,
            children: [
              {
                label: t("Webhook"),
                icon: IconWebhook,
                path: "/rcs/utility/webhook",
                keywords: "callback events add webhook",
              },
            ],
          },
        ],
      },
      {
        label: t("Chat app"),
        icon: IconBrandHipchat,
        children: [
          {
            label: t("Numbers"),
            icon: IconDeviceMobileMessage,
            path: "/chat-app/numbers",
            keywords: "whatsapp business number",
          },
          {
            label: t("Utility"),
            icon: IconTool,
            children: [
              {
                label: t("Webhook"),
                icon: IconWebhook,
                path: "/chat-app/utility/webhook",
                keywords: "callback events add webhook",
              },
            ],
          },
        ],
      },
      {
        label: t("Carriers and routes"),
        icon: IconRoute,
        path: "/operations/carriers",
        keywords: "prices smpp binds health",
      },
    ],
  },
  {
    title: t("Developers"),
    entries: [
      { label: t("API keys"), icon: IconKey, path: "/account/keys", keywords: "apikey secret rotate scopes" },
      {
        label: t("Webhooks"),
        icon: IconWebhook,
        children: [
          {
            label: t("All webhooks"),
            icon: IconWebhook,
            path: "/developers/webhooks",
            keywords: "endpoints events catalogue delivery reports callbacks latency success",
          },
          {
            label: t("Webhook deliveries"),
            icon: IconListCheck,
            path: "/operations/callbacks",
            keywords: "webhook attempts resend recover",
          },
        ],
      },
      {
        label: t("Agent sends"),
        icon: IconSparkles,
        path: "/developers/agent-sends",
        keywords: "ai assistant mcp approval approve waiting",
      },
      {
        label: t("Request log"),
        icon: IconListDetails,
        path: "/developers/requests",
        keywords: "api errors status request id debug",
      },
      {
        label: t("Other APIs"),
        icon: IconLogin2,
        children: [
          {
            label: t("Credentials"),
            icon: IconLogin2,
            path: "/developers/credentials",
            keywords: "twilio kannel jasmin smpp system id username password accountsid authtoken",
          },
          {
            label: t("Identity products"),
            icon: IconFingerprint,
            path: "/developers/identity-products",
            keywords: "supabase zitadel authentik logto kratos auth0 okta fusionauth hook otp codes",
          },
          {
            label: t("SMPP clients"),
            icon: IconPlugConnected,
            path: "/developers/smpp-clients",
            keywords: "binds esme bound disconnect pdu trace",
          },
        ],
      },
      {
        label: t("Test tools"),
        icon: IconFlask,
        children: [
          {
            label: t("Virtual phones"),
            icon: IconDeviceMobile,
            path: "/phones",
            keywords: "simulated reply tap otp test",
          },
          { label: t("Simulator"), icon: IconWaveSine, path: "/simulator", keywords: "chaos magic numbers failures" },
        ],
      },
      { label: t("Docs"), icon: IconBook, path: "/docs", keywords: "api reference guides openapi", isOutside: true },
    ],
  },
  {
    title: t("Settings"),
    entries: [
      {
        label: t("Account settings"),
        icon: IconSettings,
        path: "/account/settings",
        keywords: "retention zone stop words countries limits",
      },
      {
        label: t("Users and access"),
        icon: IconUsers,
        children: [
          { label: t("Users"), icon: IconUsers, path: "/account/users", keywords: "invite roles members" },
          { label: t("Audit log"), icon: IconListSearch, path: "/account/audit", keywords: "changes who when" },
        ],
      },
      { label: t("Credits"), icon: IconCoins, path: "/operations/credits", keywords: "balance ledger" },
      {
        label: t("Set-up file"),
        icon: IconFileSettings,
        path: "/operations/set-up",
        keywords: "export import apply config",
      },
      {
        label: t("Alerts"),
        icon: IconBell,
        path: "/operations/alerts",
        keywords: "rules thresholds carrier down rate expiry mute",
      },
      { label: t("System"), icon: IconHeartbeat, path: "/operations/system", keywords: "health nodes queue depth" },
    ],
  },
];

/** The pages of the signed-in user, in the menu at the top right. */
export const ACCOUNT_NAV: readonly NavEntry[] = [
  {
    label: t("My account"),
    icon: IconUserCircle,
    path: "/account/me",
    keywords: "password two-factor 2fa totp sessions",
  },
];

interface Destination {
  path: string;
  label: string;
  icon: Icon;
  /** The headings above the entry, such as "RCS → Utility". */
  trail: string;
  keywords: string;
  isOutside: boolean;
}

/** Every page entry with its headings. */
export function destinations(entries: readonly NavEntry[], above: readonly string[] = []): Destination[] {
  return entries.flatMap(({ label, icon, path, children, isOutside = false, keywords = "" }) => [
    ...(path === undefined ? [] : [{ path, label, icon, trail: above.join(" → "), keywords, isOutside }]),
    ...destinations(children ?? [], [...above, label]),
  ]);
}

/** Every entry of the side bar and of the user menu. */
export const ENTRIES: readonly NavEntry[] = [...NAV.flatMap(({ entries }) => entries), ...ACCOUNT_NAV];
