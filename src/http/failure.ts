import { BatcherFull } from "../lib/batcher.ts";
import { newId } from "../lib/ids.ts";
import { DoorFull } from "../lib/narrow-door.ts";
import { Problem, type ProblemCode } from "../model/problem.ts";
import { StorageUnavailable } from "../store/store.ts";
import { failureBody } from "./envelope.ts";
import type { Family, Services } from "./route.ts";

const RETRY_SECONDS = 2;

/** Made once: where many are turned away, the trace of a new error would be what costs most about each. */
export const OVERLOADED = new Problem("OVERLOADED", { retryAfterSeconds: RETRY_SECONDS });

interface Failure {
  status: number;
  headers: Record<string, string>;
  /** JSON. */
  text: string;
}

/** Turns an error into its answer, counts it, and logs it if it is ours. */
export function failureOf(services: Services, error: unknown, family: Family): Failure {
  const problem = problemOf(error);
  const requestId = newId(services.clock.now());
  services.meters.refused(problem.code).inc();
  if (problem.code === "INTERNAL") services.log.error({ err: error, requestId }, "request failed");
  return {
    status: problem.status,
    headers: {
      "x-content-type-options": "nosniff",
      "request-id": requestId,
      ...(problem.retryAfterSeconds === undefined ? {} : { "retry-after": String(problem.retryAfterSeconds) }),
    },
    text: JSON.stringify(failureBody(problem, family, services.baseUrl(), requestId)),
  };
}

const FASTIFY_PROBLEMS: Record<string, ProblemCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_BODY_TOO_LARGE: "BODY_TOO_LARGE",
  FST_ERR_CTP_EMPTY_JSON_BODY: "INVALID_JSON",
  FST_ERR_CTP_INVALID_JSON_BODY: "INVALID_JSON",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "INVALID_REQUEST",
  FST_ERR_BAD_URL: "ROUTE_NOT_FOUND",
  FST_ERR_MAX_PARAM_LENGTH: "ROUTE_NOT_FOUND",
};

/** What the caller is told of an error: its own problem if it is one, and nothing of the inside if it is not. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StorageUnavailable)
    return new Problem("STORAGE_UNAVAILABLE", { retryAfterSeconds: RETRY_SECONDS, cause: error });
  if (error instanceof BatcherFull || error instanceof DoorFull)
    return new Problem("OVERLOADED", { retryAfterSeconds: RETRY_SECONDS, cause: error });
  const known = FASTIFY_PROBLEMS[(error as { code?: string }).code ?? ""];
  return new Problem(known ?? "INTERNAL", { cause: error });
}
