import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { get } from "../../api.ts";
import type { Chaos } from "../../parts/chaos-knobs.ts";
import type { RecordRow } from "../../parts/record/record-kind.ts";
import { adapterOf } from "./adapters.ts";

/** API path of the carrier connections. */
export const CARRIERS = "/api/carriers";

export interface Carrier extends RecordRow {
  adapter: string;
  messagesPerSecond: number | null;
  chaos?: Chaos | null;
}

export interface Bind {
  as: string;
  state: string;
  since: number;
  reason: string | null;
  nextTryAt: number | null;
  inFlight: number;
}

/** Live state of a connection, as reported by the node that answers. */
export interface CarrierState {
  up: boolean;
  node: number;
  nodes: number;
  callbackUrl: string | null;
  binds: readonly Bind[];
  submitsPerSecond: number;
  speed: number | null;
  pausedUntil: number | null;
  errors: Readonly<Record<string, number>>;
  lastError: { at: number; code: string; description: string } | null;
  learnedIdForm: string | null;
}

const LOOKED_AT_EVERY_MS = 5000;

export function useCarrierState({ id, adapter }: Carrier): UseQueryResult<CarrierState> {
  return useQuery({
    queryKey: [CARRIERS, id, "state"],
    queryFn: ({ signal }) => get<CarrierState>(`${CARRIERS}/${id ?? ""}/state`, {}, signal),
    enabled: id !== null && (adapterOf(adapter)?.line ?? null) !== null,
    refetchInterval: LOOKED_AT_EVERY_MS,
    retry: false,
  });
}
