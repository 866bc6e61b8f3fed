import { isUuid, newId } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import type { Erasure } from "../../model/erasure.ts";
import { Problem } from "../../model/problem.ts";
import { refuseMissingScope } from "../auth/authenticate.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

export const erasureView = ({ id, state, erased, requestedAt, endedAt }: Erasure): object => ({
  id,
  state,
  erased,
  requestedAt,
  endedAt,
});

/** Begins to erase a number; returns the erasure that runs, if there is one. */
export async function beginErasure(
  { store, clock }: Pick<Services, "store" | "clock">,
  { caller }: Pick<AuthenticCall, "caller">,
  number: string,
): Promise<Erasure> {
  refuseMissingScope(caller.key, "manage");
  if (seesTestsOnly(caller))
    throw new Problem("INSUFFICIENT_SCOPE", { message: "A number is erased with live data: use a live key." });
  const accountId = caller.account.id;
  const running = await store.findErasureOf(accountId, number);
  if (running) return running;
  const now = clock.now();
  const erasure: Erasure = {
    accountId,
    id: newId(now),
    number,
    state: "running",
    erased: 0,
    requestedAt: now,
    endedAt: null,
  };
  await store.addErasure(erasure);
  return erasure;
}

export const ErasureView = Type.Object(
  {
    id: Type.String({ description: "ID of the erasure." }),
    state: Type.Union([Type.Literal("running"), Type.Literal("finished")], {
      description: "finished: a last pass over all data has found nothing more.",
    }),
    erased: Type.Integer({ description: "Rows that were deleted, or whose texts were changed." }),
    requestedAt: Type.Integer({ description: "Epoch milliseconds." }),
    endedAt: nullable(Type.Integer(), "Its end; null before."),
  },
  { title: "Erasure" },
);

const erasureExample = {
  id: EXAMPLE_ID,
  state: "running",
  erased: 0,
  requestedAt: 1767225600000,
  endedAt: null,
};

export const getErasure: KeyedRoute = {
  method: "GET",
  path: "/v1/erasures/:id",
  family: "plain",
  scope: "read",
  testKeys: null,
  group: "Contacts",
  summary: "Get an erasure",
  description: "Returns the progress of the erasure of a number. It does not show the number.",
  params: { id: { meaning: "ID of the erasure.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
  response: ErasureView,
  responseExample: { ...erasureExample, state: "finished", erased: 42, endedAt: 1767225612000 },
  handle: async ({ store }, { params: { id = "" }, caller }) => {
    const erasure = isUuid(id) ? await store.findErasure({ accountId: caller.account.id, id }) : null;
    if (!erasure) throw new Problem("RECORD_NOT_FOUND", { message: "There is no erasure with this id." });
    return erasureView(erasure);
  },
};
