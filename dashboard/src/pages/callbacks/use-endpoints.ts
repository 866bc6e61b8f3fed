import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";

export interface KnownEndpoint {
  id: string;
  name: string;
  path: string;
  enabled: boolean;
}

const PATHS = ["/api/webhooks", "/api/dlr-configs"];
const MAX = 200;

/** All endpoints: webhooks and delivery-report configurations. */
export function useEndpoints(): KnownEndpoint[] {
  const { data = [] } = useQuery({
    queryKey: ["endpoints"],
    queryFn: async ({ signal }) => {
      const lists = PATHS.map(async (path) => {
        const { data: some } = await get<Page<Omit<KnownEndpoint, "path">>>(path, { limit: MAX }, signal);
        return some.map(({ id, name, enabled }) => ({ id, name, enabled, path }));
      });
      return (await Promise.all(lists)).flat();
    },
  });
  return data;
}
