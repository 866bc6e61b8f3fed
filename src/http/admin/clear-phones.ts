import { Type } from "../../lib/schema.ts";
import { keyedRoute, type Services } from "../route.ts";

/** Rows of one transaction. Sends go ahead of it. */
const STEP = 1000;
/** Time after which the caller continues with another request. */
const ENOUGH_MS = 5000;

const Body = Type.Object({
  receivedBefore: Type.Integer({
    minimum: 0,
    description: "Messages that a phone received before this time are deleted. Epoch milliseconds.",
  }),
});

type Cursor = Awaited<ReturnType<Services["store"]["deleteExpired"]>>["next"];

interface Cleared {
  deleted: number;
  more: boolean;
}

/**
 * Deletes messages on an account's simulated phones, then the phones that have none and no name. A message whose reports are
 * pending stays, because the delivery report is still to come. `more` if the time was too short for all of it.
 */
async function clear(
  { store, clock }: Pick<Services, "store" | "clock">,
  accountId: number,
  before: number,
): Promise<Cleared> {
  const startedAt = clock.monotonic();
  const isEnough = (): boolean => clock.monotonic() - startedAt >= ENOUGH_MS;
  let deleted = 0;
  for (let after: Cursor = []; after;) {
    const { next, rows }: { next: Cursor; rows: number } = await store.deleteExpired(
      "phoneMessages",
      { accountId, before },
      after,
      STEP,
    );
    deleted += rows;
    after = next;
    if (after && isEnough()) return { deleted, more: true };
  }
  // Looking for empty phones counts the messages of all, so it follows a change only.
  if (deleted === 0) return { deleted, more: false };
  while ((await store.removeEmptyPhones(accountId, STEP)) >= STEP) if (isEnough()) return { deleted, more: true };
  return { deleted, more: false };
}

export const clearPhones = keyedRoute({
  method: "POST",
  path: "/api/simulator/phones/clear",
  family: "plain",
  scope: "manage",
  group: "Simulator",
  // Closed to test keys, because it also deletes live messages on the simulator.
  testKeys: null,
  summary: "Clear simulated phones",
  description:
    "Deletes the messages on all simulated phones of the account, and then the phones without messages, except the samples. Messages whose delivery reports are pending stay. The account's own record of messages (`/v1/messages`) and inbound messages is not affected. Repeat the request while `more` is true.",
  body: Body,
  requestExamples: { "before this year": { receivedBefore: 1767225600000 } },
  response: Type.Object({
    deleted: Type.Integer({ description: "Number of deleted messages." }),
    more: Type.Boolean({ description: "True if there was too little time for all of them." }),
  }),
  responseExample: { deleted: 500, more: false },
  // Ids of messages begin with their time, and the clock of another node may be ahead.
  handle: (services, { body, caller }) =>
    clear(services, caller.account.id, Math.min(body.receivedBefore, services.clock.now() + 1)),
});
