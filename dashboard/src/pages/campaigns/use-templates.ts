import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import type { Template } from "../../api-types.ts";
import type { SendChannel } from "../../parts/channel.tsx";

/** The stored templates of a channel. */
export function useTemplates<C extends SendChannel>(channel: C): Extract<Template, { channel: C }>[] {
  const { data = [] } = useQuery({
    queryKey: ["/api/templates", "of", channel],
    queryFn: async ({ signal }) => (await get<Page<Template>>("/api/templates", { channel, limit: 200 }, signal)).data,
  });
  return data.filter((template): template is Extract<Template, { channel: C }> => template.channel === channel);
}
