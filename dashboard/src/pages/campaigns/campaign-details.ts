import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { ShortLink } from "../links/short-link.ts";
import type { Campaign } from "./campaign.ts";

const LOOKED_AT = 200;
const LINK_PAGES = 5;

/** The messages of a campaign under their name. */
export type NamedCampaign = Pick<Campaign, "name" | "counts" | "createdAt">;

interface Failures {
  reasons: { code: string | null; words: string; count: number }[];
  lookedAt: number;
  /** True if there are more failed messages than the `lookedAt` newest. */
  more: boolean;
}

/** Failure reasons of the newest failed messages, most frequent first. */
export function useFailures({ name, counts }: NamedCampaign) {
  const failed = counts.Failed ?? 0;
  return useQuery({
    queryKey: ["campaign failures", name, failed],
    queryFn: async ({ signal }): Promise<Failures> => {
      const query = { campaignName: name, status: "Failed", limit: LOOKED_AT };
      const { data, nextCursor } = await get<Page<Message>>("/api/messages", query, signal);
      const groups = Map.groupBy(data, ({ errCode, statusDescription }) =>
        JSON.stringify([errCode, statusDescription]),
      );
      const reasons = [...groups.values()].map((group) => ({
        code: group[0]?.errCode ?? null,
        words: group[0]?.statusDescription ?? t("No reason given"),
        count: group.length,
      }));
      return {
        reasons: reasons.toSorted((a, b) => b.count - a.count),
        lookedAt: data.length,
        more: nextCursor !== null,
      };
    },
  });
}

/** The links in the newest messages of a campaign. A link and its message share the request id. */
export function useClicks({ name, createdAt }: NamedCampaign) {
  return useQuery({
    queryKey: ["campaign clicks", name],
    queryFn: async ({ signal }) => {
      const query = { campaignName: name, limit: LOOKED_AT };
      const { data, nextCursor } = await get<Page<Message>>("/api/messages", query, signal);
      const requests = new Set(data.map(({ messageId }) => requestIn(messageId)));
      const found: ShortLink[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < LINK_PAGES; page++) {
        const links: Page<ShortLink> = await get("/api/links", { limit: LOOKED_AT, cursor }, signal);
        found.push(...links.data.filter(({ id }) => requests.has(requestIn(id))));
        cursor = links.nextCursor;
        if (cursor === null || links.data.some((link) => link.createdAt < createdAt)) break;
      }
      return { links: found, lookedAt: data.length, more: nextCursor !== null };
    },
  });
}

const requestIn = (id: string): string => id.split(":")[0] ?? id;
