import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";

/** The names of all records of a kind, as options of a select input. */
export function useNames(path: string): string[] {
  const { data } = useQuery({
    queryKey: [path, "names"],
    queryFn: ({ signal }) => get<Page<{ name: string }>>(path, { limit: 200 }, signal),
  });
  return data?.data.map(({ name }) => name) ?? [];
}
