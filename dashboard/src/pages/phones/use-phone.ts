import { useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post, type Page } from "../../api.ts";
import type { Inbound, PhoneMessage } from "../../api-types.ts";
import { useLive } from "../../live.ts";
import { threadsOf, type Thread } from "./threads.ts";

const LOOK_EVERY_MS = 3000;
const SHOWN = 100;

interface PhoneState {
  threads: Thread[];
  loading: boolean;
  error: Error | null;
  /** Id of the latest message that arrived while the page was open. */
  lit: string | undefined;
  /** Acts as the phone's owner: `reply`, `tap`, `file`, `location`, `read`. */
  act: (verb: string, body: object) => Promise<void>;
}

/** Messages of a simulated phone, and the actions of its owner. */
export function usePhone(number: string): PhoneState {
  const client = useQueryClient();
  const inbox = ["phone", number, "messages"];
  const outbox = ["phone", number, "answers"];
  const lit = useQuery<string>({ queryKey: ["phone", number, "lit"], enabled: false, queryFn: () => "" });
  const messages = useQuery({
    queryKey: inbox,
    queryFn: ({ signal }) =>
      get<Page<PhoneMessage>>(`/api/simulator/phones/${number}/messages`, { limit: SHOWN }, signal),
  });
  const answers = useQuery({
    queryKey: outbox,
    queryFn: ({ signal }) => get<Page<Inbound>>("/v1/inbound", { from: number, limit: SHOWN }, signal),
    refetchInterval: LOOK_EVERY_MS,
  });
  useLive<PhoneMessage>("message", (message) => {
    if (message.to !== number) return;
    client.setQueryData(["phone", number, "lit"], message.id);
    void client.invalidateQueries({ queryKey: inbox });
  });
  return {
    threads: threadsOf(messages.data?.data ?? [], answers.data?.data ?? []),
    loading: messages.isPending,
    error: messages.error ?? answers.error,
    lit: lit.data,
    async act(verb, body) {
      await post(`/api/simulator/phones/${number}/${verb}`, body);
      await client.invalidateQueries({ queryKey: outbox });
      await client.invalidateQueries({ queryKey: ["/api/callbacks"] });
    },
  };
}
