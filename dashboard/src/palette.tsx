import { Spotlight, spotlight, type SpotlightActionData } from "@mantine/spotlight";
import "@mantine/spotlight/styles.css";
import { IconHelp, IconLogout, IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { ownUrl } from "./base.ts";
import { ACCOUNT_NAV, destinations, DOCS, NAV } from "./nav.ts";
import { useSignIn } from "./session.tsx";

const MESSAGE_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}:\d+$/;
const NUMBER = /^\+?\d{7,15}$/;

/** Ctrl-K: every page by its name, and a message or a number by pasting it. */
export default function Palette({ calls, openHelp }: { calls: number; openHelp: () => void }) {
  const [, navigate] = useLocation();
  const { signOut } = useSignIn();
  const [query, setQuery] = useState("");
  // Each call opens it, the first one included, for which it was fetched.
  useEffect(() => spotlight.open(), [calls]);
  const pages: SpotlightActionData[] = destinations([...NAV, ...ACCOUNT_NAV]).map(
    ({ path, label, icon: Icon, trail, keywords }) => ({
      id: path,
      label,
      description: trail,
      keywords: [keywords, trail],
      leftSection: <Icon size={18} aria-hidden />,
      onClick: () => navigate(path),
    }),
  );
  const others: SpotlightActionData[] = [
    {
      id: "docs",
      label: DOCS.label,
      leftSection: <DOCS.icon size={18} aria-hidden />,
      onClick: () => location.assign(ownUrl(DOCS.path)),
    },
    { id: "help", label: "Keys and help", leftSection: <IconHelp size={18} aria-hidden />, onClick: openHelp },
    { id: "out", label: "Sign out", leftSection: <IconLogout size={18} aria-hidden />, onClick: () => void signOut() },
  ];
  return (
    <Spotlight
      actions={[...found(query.trim(), navigate), ...pages, ...others]}
      query={query}
      onQueryChange={setQuery}
      attributes={{ content: { "aria-label": "Go to" } }}
      shortcut={null}
      highlightQuery
      scrollable
      maxHeight="60vh"
      nothingFound="Nothing is called that."
      searchProps={{
        leftSection: <IconSearch size={19} aria-hidden />,
        placeholder: "A page, a message id, a number…",
        "aria-label": "Go to",
      }}
    />
  );
}

/** What a pasted value can mean. */
function found(query: string, navigate: (path: string) => void): SpotlightActionData[] {
  if (MESSAGE_ID.test(query))
    return [{ id: "message", label: `Message ${query}`, onClick: () => navigate(`/messages/${query}`) }];
  if (!NUMBER.test(query)) return [];
  const number = query.replace("+", "");
  return [
    { id: "to", label: `Messages to ${query}`, onClick: () => navigate(`/messages?recipient=${number}`) },
    { id: "phone", label: `The phone of ${query}`, onClick: () => navigate(`/phones/${number}`) },
  ];
}
