import { BatcherFull } from "../lib/batcher.ts";
import { newId } from "../lib/ids.ts";
import { QueueFull } from "../lib/async.ts";
import { Problem, type ProblemCode } from "../model/problem.ts";
import { QueryQueueFull, QueryTimedOut } from "../store/reporting-queue.ts";
import { StorageUnavailable } from "../store/store.ts";
import { errorBody } from "./envelope.ts";
import type { Family, Services } from "./route.ts";

const RETRY_SECONDS = 2;

/** One shared instance: under overload the stack trace of a new error would be the largest cost of a refusal. */
export const OVERLOADED = new Problem("OVERLOADED", { retryAfterSeconds: RETRY_SECONDS });

interface ErrorResponse extends Pick<Reported, "problem" | "requestId"> {
  status: number;
  headers: Record<string, string>;
  /** JSON. */
  text: string;
}

/** Turns an error into its response, counts it, and logs it if it is internal. */
export function errorResponse(services: Services, error: unknown, family: Family): ErrorResponse {
  const { problem, requestId, headers } = reportProblem(services, error);
  return {
    problem,
    requestId,
    status: problem.status,
    headers,
    text: JSON.stringify(errorBody(problem, family, services.baseUrl(), requestId)),
  };
}

interface Reported {
  problem: Problem;
  requestId: string;
  headers: Record<string, string>;
}

/** The problem that the client sees, with the headers of any response to it. Counts it, and logs it if it is internal. */
export function reportProblem(services: Services, error: unknown): Reported {
  const problem = problemOf(error);
  const requestId = newId(services.clock.now());
  services.metrics.refused(problem.code).inc();
  if (problem.code === "INTERNAL") services.log.error({ err: error, requestId }, "request failed");
  const headers = {
    "x-content-type-options": "nosniff",
    "request-id": requestId,
    ...(problem.retryAfterSeconds === undefined ? {} : { "retry-after": String(problem.retryAfterSeconds) }),
  };
  return { problem, requestId, headers };
}

const FASTIFY_PROBLEMS: Record<string, ProblemCode> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_EMPTY_JSON_BODY: "INVALID_JSON",
  FST_ERR_CTP_INVALID_JSON_BODY: "INVALID_JSON",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "INVALID_REQUEST",
  FST_ERR_BAD_URL: "ROUTE_NOT_FOUND",
  FST_ERR_MAX_PARAM_LENGTH: "ROUTE_NOT_FOUND",
};

/** The problem that the client sees. Internal errors reveal nothing of their cause. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StorageUnavailable)
    return new Problem("STORAGE_UNAVAILABLE", { retryAfterSeconds: RETRY_SECONDS, cause: error });
  if (error instanceof QueryTimedOut)
    return new Problem("QUERY_TIMED_OUT", {
      message: `The query took longer than ${error.timeoutMs / 1000} s and was cancelled.`,
      cause: error,
    });
  if (error instanceof QueryQueueFull)
    return new Problem("QUERY_QUEUE_FULL", { retryAfterSeconds: RETRY_SECONDS, cause: error });
  if (error instanceof BatcherFull || error instanceof QueueFull)
    return new Problem("OVERLOADED", { retryAfterSeconds: RETRY_SECONDS, cause: error });
  const known = FASTIFY_PROBLEMS[(error as { code?: string }).code ?? ""];
  return new Problem(known ?? "INTERNAL", { cause: error });
}
