import { useMantineColorScheme } from "@mantine/core";
import { Spotlight, spotlight, type SpotlightActionData } from "@mantine/spotlight";
import "@mantine/spotlight/styles.css";
import {
  IconDeviceMobile,
  IconFileText,
  IconHelp,
  IconKey,
  IconLanguage,
  IconListSearch,
  IconLogout,
  IconMessage,
  IconSearch,
  IconSpeakerphone,
  IconWebhook,
} from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import type { Template } from "./api-types.ts";
import { ownUrl } from "./base.ts";
import { language, LANGUAGES, type Language } from "./i18n/language.ts";
import { t } from "./i18n/t.ts";
import { changeLanguage } from "./language-switch.tsx";
import { destinations, ENTRIES } from "./nav.ts";
import { localTime } from "./parts/time-text.tsx";
import { useServerSearch, type Found } from "./search.ts";
import { useSignIn } from "./session.tsx";
import { THEMES } from "./theme-switch.tsx";

const MESSAGE_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}:\d+$/;
const NUMBER = /^\+?\d{7,15}$/;

interface Group {
  title: string;
  actions: readonly SpotlightActionData[];
}

interface Props {
  calls: number;
  openHelp: () => void;
  /** Receives what was typed while this module loaded. Props, because an import would make a chunk of its own. */
  hearTyping: (receive: (text: string) => void) => () => void;
  stopTyping: () => void;
}

const LANGUAGE_CODES = Object.keys(LANGUAGES) as Language[];

/**
 * Command palette (Ctrl-K): finds pages by name, and messages, campaigns, templates, endpoints and keys on the server.
 */
export default function Palette({ calls, openHelp, hearTyping, stopTyping }: Props) {
  const [, navigate] = useLocation();
  const { signOut } = useSignIn();
  const { setColorScheme } = useMantineColorScheme();
  const [query, setQuery] = useState("");
  const { found, searching, error } = useServerSearch(query);
  // Opens on every call. The first call also loaded this module.
  useEffect(() => spotlight.open(), [calls]);
  useEffect(() => hearTyping(setQuery), [hearTyping]);
  const pages: SpotlightActionData[] = destinations(ENTRIES).map(
    ({ path, label, icon: Icon, trail, keywords, isOutside }) => ({
      id: path,
      label,
      description: trail,
      keywords: [keywords, trail],
      leftSection: <Icon size={18} aria-hidden />,
      onClick: () => (isOutside ? location.assign(ownUrl(path)) : navigate(path)),
    }),
  );
  const others: SpotlightActionData[] = [
    {
      id: "help",
      label: t("Keyboard shortcuts and help"),
      leftSection: <IconHelp size={18} aria-hidden />,
      onClick: openHelp,
    },
    {
      id: "out",
      label: t("Sign out"),
      keywords: [t("log out"), "logout"],
      leftSection: <IconLogout size={18} aria-hidden />,
      onClick: () => void signOut(),
    },
    ...THEMES.map(({ value, label, icon: Icon }) => ({
      id: `theme ${value}`,
      label,
      keywords: [t("Theme"), "theme"],
      leftSection: <Icon size={18} aria-hidden />,
      onClick: () => setColorScheme(value),
    })),
    ...LANGUAGE_CODES.filter((code) => code !== language).map((code) => ({
      id: `language ${code}`,
      label: t("Language: {name}", { name: LANGUAGES[code] }),
      keywords: ["language", code],
      leftSection: <IconLanguage size={18} aria-hidden />,
      onClick: () => changeLanguage(code),
    })),
  ];
  const text = query.trim();
  // Server results arrive later, so they come after the pages and do not move them.
  const groups: Group[] = [
    { title: t("Message"), actions: messageOf(text, navigate) },
    { title: t("Pages"), actions: [...pages, ...others].filter((action) => isLike(action, text)) },
    ...(found && !MESSAGE_ID.test(text) ? groupsOf(found, navigate) : []),
    { title: t("Phone"), actions: phoneOf(text, navigate) },
  ].filter(({ actions }) => actions.length > 0);
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      attributes={{ content: { "aria-label": t("Search") } }}
      shortcut={null}
      scrollable
      maxHeight="60vh"
    >
      <Spotlight.Search
        leftSection={<IconSearch size={19} aria-hidden />}
        placeholder={t("Number, last digits, message id, campaign, template, page…")}
        aria-label={t("Search")}
        onFocus={stopTyping}
        onKeyDown={({ key }) => key === "Enter" && openFirst()}
      />
      <Spotlight.ActionsList id={RESULTS}>
        {groups.map(({ title, actions }) => (
          <Spotlight.ActionsGroup key={title} label={title}>
            {actions.map(({ id, keywords: _keywords, ...action }) => (
              <Spotlight.Action key={id} highlightQuery {...action} />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && !searching && !error && <Spotlight.Empty>{t("No results")}</Spotlight.Empty>}
      </Spotlight.ActionsList>
      <Spotlight.Footer role="status" fz="sm" c="dimmed" px="md" py={searching || error || isBare(found) ? "xs" : 0}>
        {searching && t("Searching messages, campaigns, templates, webhooks and keys…")}
        {!searching && error && t("Search failed: {reason}", { reason: error.message })}
        {!searching && !error && isBare(found) && t("Nothing on the server matches “{text}”.", { text })}
      </Spotlight.Footer>
    </Spotlight.Root>
  );
}

const RESULTS = "search-results";

/** Spotlight selects no result that arrives after the text has changed. Without a selection, Enter opens the first one. */
function openFirst(): void {
  const results = document.getElementById(RESULTS);
  if (results?.querySelector("[data-selected]")) return;
  results?.querySelector<HTMLElement>("[data-action]")?.click();
}

const isBare = (found: Found | null): boolean =>
  found !== null && Object.values(found).every((list: readonly unknown[]) => list.length === 0);

function isLike({ label = "", description = "", keywords = [] }: SpotlightActionData, text: string): boolean {
  const words = [label, description, ...[keywords].flat()].join(" ").toLowerCase();
  return words.includes(text.toLowerCase());
}

const PATHS: Readonly<Record<Template["channel"], string>> = {
  sms: "/message-app/templates",
  rcs: "/rcs/templates",
  chatapp: "/chat-app/templates",
};

const WEBHOOK_PATHS: Readonly<Record<string, string>> = {
  sms: "/message-app/utility-manager/webhook",
  rcs: "/rcs/utility/webhook",
  chatapp: "/chat-app/utility/webhook",
  verify: "/verify?tab=webhook",
};
const ANY_WEBHOOK = "/rcs/utility/webhook";
const REPORTS = "/message-app/utility-manager/dlr-push-configuration";

const groupsOf = (
  { messages, campaigns, templates, webhooks, reports, keys }: Found,
  navigate: (path: string) => void,
): Group[] => [
  {
    title: t("Messages"),
    actions: [
      ...messages.map(({ messageId, recipient, text, templateName, status, createdAt }) => ({
        id: messageId,
        label: t("To {recipient}", { recipient }),
        description: [localTime(createdAt), status, text || templateName].filter(Boolean).join(" · "),
        leftSection: <IconMessage size={18} aria-hidden />,
        onClick: () => navigate(`/messages/${messageId}`),
      })),
      ...allOf(messages, navigate),
    ],
  },
  {
    title: t("Campaigns"),
    actions: campaigns.map(({ id, name }) => ({
      id,
      label: name,
      leftSection: <IconSpeakerphone size={18} aria-hidden />,
      onClick: () => navigate(`/campaigns/${id}`),
    })),
  },
  {
    title: t("Templates"),
    actions: templates.map(({ id, name, channel }) => ({
      id,
      label: name,
      leftSection: <IconFileText size={18} aria-hidden />,
      onClick: () => navigate(`${PATHS[channel]}/${id}`),
    })),
  },
  {
    title: t("Webhooks"),
    actions: [
      ...webhooks.map(({ id, name, channel }) => ({ id, name, path: WEBHOOK_PATHS[channel ?? ""] ?? ANY_WEBHOOK })),
      ...reports.map(({ id, name }) => ({ id, name, path: REPORTS })),
    ].map(({ id, name, path }) => ({
      id,
      label: name,
      leftSection: <IconWebhook size={18} aria-hidden />,
      onClick: () => navigate(`${path}${path.includes("?") ? "&" : "?"}open=${id}`),
    })),
  },
  {
    title: t("API keys"),
    actions: keys.map(({ id, name }) => ({
      id,
      label: name,
      leftSection: <IconKey size={18} aria-hidden />,
      onClick: () => navigate(`/account/keys?open=${id}`),
    })),
  },
];

/** If several messages have the same number, a link to the filtered list. */
function allOf(messages: Found["messages"], navigate: (path: string) => void): SpotlightActionData[] {
  const [first] = messages;
  if (!first || messages.length < 2 || messages.some(({ recipient }) => recipient !== first.recipient)) return [];
  const icon = <IconListSearch size={18} aria-hidden />;
  const path = `/messages?recipient=${first.recipient.replace("+", "")}`;
  return [
    {
      id: "all",
      label: t("Messages to {recipient}", { recipient: first.recipient }),
      leftSection: icon,
      onClick: () => navigate(path),
    },
  ];
}

/** Opens a complete message id without a search. */
const messageOf = (text: string, navigate: (path: string) => void): SpotlightActionData[] =>
  MESSAGE_ID.test(text)
    ? [
        {
          id: "message",
          label: t("Message {id}", { id: text }),
          leftSection: <IconMessage size={18} aria-hidden />,
          onClick: () => navigate(`/messages/${text}`),
        },
      ]
    : [];

function phoneOf(text: string, navigate: (path: string) => void): SpotlightActionData[] {
  if (!NUMBER.test(text)) return [];
  const number = text.replace("+", "");
  const icon = <IconDeviceMobile size={18} aria-hidden />;
  return [
    {
      id: "phone",
      label: t("Virtual phone {number}", { number: text }),
      leftSection: icon,
      onClick: () => navigate(`/phones/${number}`),
    },
  ];
}
