import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import type { Template } from "../../api-types.ts";

/** The stored SMS templates. */
export function useSmsTemplates(): Extract<Template, { channel: "sms" }>[] {
  const { data = [] } = useQuery({
    queryKey: ["/api/templates", "of", "sms"],
    queryFn: async ({ signal }) =>
      (await get<Page<Template>>("/api/templates", { channel: "sms", limit: 200 }, signal)).data,
  });
  return data.filter((template) => template.channel === "sms");
}
