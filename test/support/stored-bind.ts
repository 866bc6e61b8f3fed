import { newId } from "../../src/lib/ids.ts";
import type { TestServer } from "./test-server.ts";

/** Stores a bind of the first account, as if a client were connected. */
export async function insertBind(
  { app: { store } }: Pick<TestServer, "app">,
  credentialId: string,
): Promise<{ id: string }> {
  const [node] = await store.listNodes();
  const bind = {
    accountId: 1,
    id: newId(Date.now()),
    credentialId,
    node: node?.id ?? 0,
    kind: "transceiver" as const,
    address: "192.0.2.7",
    secure: false,
    boundAt: Date.now(),
    counters: "{}",
    trace: "[]",
  };
  await store.openBind(bind, 1);
  return bind;
}
