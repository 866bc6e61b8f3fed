import { keepPreviousData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { ownUrl } from "./base.ts";
import { t } from "./i18n/t.ts";
import { noteLost } from "./connection.ts";

interface ErrorBody {
  message?: string;
  error?: {
    code: string;
    message: string;
    parameter: string | null;
    requestId: string;
    details: { parameter: string; message: string }[];
  };
}

/** An error response: the problem, its reference page, and the request id for support. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  /** One line per invalid field. */
  readonly details: readonly { parameter: string; message: string }[];

  constructor(status: number, body: ErrorBody) {
    super(body.message ?? body.error?.message ?? t("The server answered {status}.", { status }));
    this.status = status;
    this.code = body.error?.code ?? `HTTP_${status}`;
    this.requestId = body.error?.requestId ?? null;
    this.details = body.error?.details ?? [];
  }

  /** The reference page of the error code, served by this server. */
  get reference(): string {
    return ownUrl(`/docs/errors/${this.code}`);
  }
}

/** The server could not be reached. */
class Unreachable extends ApiError {
  constructor() {
    super(0, {
      message: t("The server cannot be reached. This page is read again once it answers."),
    });
  }
}

/** A change got no response, so the server may have executed it. */
export class NoAnswer extends ApiError {
  constructor(path: string) {
    super(0, {
      message: path.startsWith("/v1/")
        ? t(
            "The connection broke before the server answered: the message may have been sent. Look for it under Messages before you send again.",
          )
        : t(
            "The connection broke before the server answered: the change may have been made. Look before you try again.",
          ),
    });
  }
}

let csrfToken = "";
let onSignedOut = (): void => {};

/** CSRF protection: every unsafe request carries the token of the session, which other sites cannot read. */
export const setCsrfToken = (token: string): void => void (csrfToken = token);

/** Sets the callback for a session that has ended. */
export const whenSignedOut = (run: () => void): void => void (onSignedOut = run);

/** Reports the end of a session that was noticed outside of `api`, such as by the event stream. */
export const signedOut = (): void => onSignedOut();

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Options {
  body?: unknown;
  query?: Query;
  signal?: AbortSignal;
  /** Sends with this API key in place of the session, as a program would. */
  apiKey?: string;
  /** A repeated send with the same key gets the response of the first one. */
  idempotencyKey?: string;
}

const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504]);

/** Query parameters. Empty values are left out. */
export type Query = Readonly<Record<string, string | number | undefined | null>>;

/** Sends one request with the session cookie. Throws an `ApiError` unless the response is a success. */
export async function api<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const { body, query, signal, apiKey, idempotencyKey } = options;
  const response = await fetch(ownUrl(path) + queryText(query), {
    method,
    credentials: apiKey === undefined ? "same-origin" : "omit",
    headers: {
      accept: "application/json",
      ...(apiKey === undefined ? {} : { apikey: apiKey }),
      ...(method === "GET" || apiKey !== undefined ? {} : { "x-csrf-token": csrfToken }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    noteLost();
    throw method === "GET" ? new Unreachable() : new NoAnswer(path);
  });
  const answer = await readJson(response);
  if (response.ok) return answer as T;
  // Only a proxy answers without an error body: it timed out, or the server is down.
  const isCut = GATEWAY_ERRORS.has(response.status) && (answer as ErrorBody).error === undefined;
  if (isCut) {
    noteLost();
    throw method === "GET" ? new Unreachable() : new NoAnswer(path);
  }
  // The session query and the login form handle their own 401.
  const isAsking = path === "/api/session" && (method === "GET" || method === "POST");
  if (response.status === 401 && !isAsking) onSignedOut();
  throw new ApiError(response.status, answer as ErrorBody);
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  api("GET", path, { ...(query ? { query } : {}), ...(signal ? { signal } : {}) });
export const post = <T>(path: string, body?: unknown): Promise<T> => api("POST", path, { body: body ?? {} });
export const put = <T>(path: string, body: unknown): Promise<T> => api("PUT", path, { body });
export const patch = <T>(path: string, body: unknown): Promise<T> => api("PATCH", path, { body });
export const remove = <T>(path: string): Promise<T> => api("DELETE", path);

/** Uploads a file as the body. `fetch` has no progress of uploads. */
export function upload<T>(path: string, file: File, onProgress: (share: number) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", ownUrl(path));
    request.setRequestHeader("accept", "application/json");
    request.setRequestHeader("x-csrf-token", csrfToken);
    request.setRequestHeader("content-type", file.type || "application/octet-stream");
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener("error", () => reject(new Unreachable()));
    request.addEventListener("load", () => {
      const answer = parsed(request.responseText);
      if (request.status >= 200 && request.status < 300) return resolve(answer as T);
      if (request.status === 401) onSignedOut();
      reject(new ApiError(request.status, answer as ErrorBody));
    });
    request.send(file);
  });
}

/** Deletes a record and reads its list again, also after a failure: another user may have deleted the record first. */
export async function removeListed(path: string, readAgain: () => Promise<unknown>): Promise<void> {
  try {
    await remove(path);
  } finally {
    await readAgain();
  }
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** A proxy may answer with a page of its own, which is not JSON. */
const readJson = async (response: Response): Promise<unknown> => parsed(await response.text());

function parsed(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}

/** One page of a list. */
export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** A count that stops at a limit. */
export interface Counted {
  count: number;
  /** True if there are more. */
  more: boolean;
}

/** The state of a list, in the form that `DataTable` takes. */
interface TableState<T> {
  rows: T[];
  loading: boolean;
  error: Error | null;
  retry: () => void;
  hasMore: boolean;
  more: () => void;
  loadingMore: boolean;
  /** Why the next page could not be read; the rows before it stay. */
  moreError: Error | null;
}

interface Paged<T> {
  rows: T[];
  table: TableState<T>;
  query: UseInfiniteQueryResult<{ pages: Page<T>[] }>;
}

const PAGE_ROWS_DEFAULT = 50;
const NO_CURSOR: Query = {};

/**
 * Reads a list page by page with the cursor of the page before. The server answers a slow search with the rows that it has found
 * so far: the page shows them, and reads on until it is full.
 */
export function usePages<T>(
  path: string,
  query: Query = {},
  options: { enabled?: boolean; refreshMs?: number } = {},
): Paged<T> {
  const size = Number(query["limit"] ?? PAGE_ROWS_DEFAULT);
  const result = useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) => get<Page<T>>(path, { ...query, ...pageParam }, signal),
    initialPageParam: NO_CURSOR,
    getNextPageParam: ({ nextCursor }, pages) =>
      nextCursor === null ? null : { cursor: nextCursor, limit: size - (rowsOf(pages).length % size) },
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
    refetchInterval: options.refreshMs ?? false,
  });
  const { data, hasNextPage, isFetching, fetchNextPage } = result;
  const pages = data?.pages ?? [];
  const rows = rowsOf(pages);
  // Not the query's own error, which a live change of a row clears: the next page would be read again with each change.
  const [failure, setFailure] = useState<{ after: string; error: Error } | null>(null);
  const reached = JSON.stringify([path, query, pages.length]);
  const moreError = failure?.after === reached ? failure.error : null;
  const note = useCallback(
    ({ isFetchNextPageError, error }: { isFetchNextPageError: boolean; error: Error | null }): void =>
      setFailure(isFetchNextPageError && error ? { after: reached, error } : null),
    [reached],
  );
  const isShort = hasNextPage && rows.length % size > 0;
  useEffect(() => {
    if (isShort && !isFetching && !moreError) void fetchNextPage().then(note);
  }, [isShort, isFetching, moreError, fetchNextPage, note]);
  return {
    rows,
    table: {
      rows,
      loading: result.isPending,
      error: moreError || result.isFetchNextPageError ? null : result.error,
      retry: () => void result.refetch(),
      hasMore: hasNextPage,
      more: () => void fetchNextPage().then(note),
      loadingMore: result.isFetchingNextPage,
      moreError,
    },
    query: result,
  };
}

const rowsOf = <T>(pages: readonly Page<T>[]): T[] => pages.flatMap(({ data }) => data);
