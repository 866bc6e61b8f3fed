import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api.ts";
import type { Message } from "../../api-types.ts";

const LOOKED_AT = 200;
const REFRESH_MS = 60_000;

/**
 * The words of carriers for their own codes: of each code, the description that the latest failed messages have most often.
 * The counts behind the statistics have codes only.
 */
export function useCarrierWords(isWanted: boolean): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ["words of carriers"],
    queryFn: ({ signal }) => get<Page<Message>>("/api/messages", { status: "Failed", limit: LOOKED_AT }, signal),
    enabled: isWanted,
    refetchInterval: REFRESH_MS,
  });
  const byCode = Map.groupBy(data?.data ?? [], ({ errCode }) => errCode ?? "");
  return new Map(
    [...byCode].flatMap(([code, messages]) => {
      const word = mostFrequent(messages.flatMap(({ statusDescription }) => statusDescription ?? []));
      return word === undefined ? [] : [[code, word] as const];
    }),
  );
}

function mostFrequent(words: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(words, (word) => word).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0]?.[0];
}
