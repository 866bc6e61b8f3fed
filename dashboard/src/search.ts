import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { get, type Page, type Query } from "./api.ts";
import type { Message, Template } from "./api-types.ts";
import { useMay } from "./session.tsx";

const TYPING_MS = 250;
const SHOWN = 5;
const KEYS_MAX = 200;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MESSAGE_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:\d+$/;
const LEAST = 3;
const WHOLE_DIGITS = 11;
const ENDING_LEAST = 4;

/** Results of a search on the server. */
export interface Found {
  messages: readonly Message[];
  campaigns: readonly { id: string; name: string }[];
  templates: readonly Template[];
  webhooks: readonly NamedEndpoint[];
  reports: readonly NamedEndpoint[];
  keys: readonly { id: string; name: string }[];
}

interface NamedEndpoint {
  id: string;
  name: string;
  channel?: string;
}

/** The message filters that a text could match. */
function filtersFor(text: string, isMasked: boolean): Query[] {
  const id = text.toLowerCase();
  if (MESSAGE_ID.test(id)) return [{ messageId: id }];
  if (UUID.test(id)) return [{ messageId: `${id}:1` }, { carrierMessageId: text }];
  const digits = text.replaceAll(/[\s\-().+]/g, "");
  if (/^\d+$/.test(digits)) {
    if (digits.length < ENDING_LEAST) return [];
    if (text.startsWith("+") || digits.length >= WHOLE_DIGITS)
      return [{ recipient: digits }, { carrierMessageId: text }];
    // Viewers see the last four digits of a number, so they may search only by these or by the whole number.
    const byEnd = isMasked && digits.length > ENDING_LEAST ? { recipient: digits } : { recipientEnding: digits };
    return isMasked && digits.length > ENDING_LEAST && digits.length < 7 ? [] : [byEnd];
  }
  return [{ campaignName: text }, { carrierMessageId: text }];
}

/** Debounced server search for a number, an id or a name. */
export function useServerSearch(typed: string): { found: Found | null; searching: boolean; error: Error | null } {
  const text = typed.trim();
  const [settled] = useDebouncedValue(text, TYPING_MS);
  const isMasked = !useMay("write");
  const isAsked = text.length >= LEAST;
  const { data, isFetching, error } = useQuery({
    queryKey: ["search", settled],
    queryFn: ({ signal }) => search(settled, isMasked, signal),
    enabled: settled.length >= LEAST,
    retry: false,
  });
  const isSettled = settled === text;
  return {
    found: isAsked && isSettled && data ? data : null,
    searching: isAsked && (!isSettled || isFetching),
    error: isAsked && isSettled ? error : null,
  };
}

async function search(text: string, isMasked: boolean, signal: AbortSignal): Promise<Found> {
  const isNamed = ({ name }: { name: string }): boolean => name.toLowerCase().includes(text.toLowerCase());
  const named = { q: text, limit: SHOWN };
  const [campaigns, templates, webhooks, reports, keys, ...lists] = await Promise.all([
    get<Page<{ id: string; name: string }>>("/api/campaigns", named, signal),
    get<Page<Template>>("/api/templates", named, signal),
    get<Page<NamedEndpoint>>("/api/webhooks", named, signal),
    get<Page<NamedEndpoint>>("/api/dlr-configs", named, signal),
    get<Page<{ id: string; name: string }>>("/api/keys", { limit: KEYS_MAX }, signal),
    ...filtersFor(text, isMasked).map((filter) =>
      get<Page<Message>>("/api/messages", { ...filter, limit: SHOWN }, signal),
    ),
  ]);
  const messages = new Map(lists.flatMap(({ data }) => data).map((message) => [message.messageId, message]));
  return {
    messages: [...messages.values()].slice(0, SHOWN),
    campaigns: campaigns.data,
    templates: templates.data,
    webhooks: webhooks.data,
    reports: reports.data,
    keys: keys.data.filter(isNamed).slice(0, SHOWN),
  };
}
