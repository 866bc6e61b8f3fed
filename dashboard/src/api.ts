import { keepPreviousData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
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

/** A failure as the server tells it: what is wrong, where to read on, and what support asks for. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  /** One line per field that is wrong. */
  readonly details: readonly { parameter: string; message: string }[];

  constructor(status: number, body: ErrorBody) {
    super(body.message ?? body.error?.message ?? t("The server answered {status}.", { status }));
    this.status = status;
    this.code = body.error?.code ?? `HTTP_${status}`;
    this.requestId = body.error?.requestId ?? null;
    this.details = body.error?.details ?? [];
  }

  /** The page that explains the code; this server serves it itself. */
  get reference(): string {
    return ownUrl(`/docs/errors/${this.code}`);
  }
}

/** The server could not be reached at all. */
class Unreachable extends ApiError {
  constructor() {
    super(0, {
      message: t("The server cannot be reached. This page is read again once it answers."),
    });
  }
}

/** The answer to a change never came: the server may have made it. */
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

/** Every unsafe request carries the token of the session, which no other site can know. */
export const setCsrfToken = (token: string): void => void (csrfToken = token);

/** What happens when the server says that the session is over. */
export const whenSignedOut = (run: () => void): void => void (onSignedOut = run);

/** Says that the session is over, where the server said so elsewhere than in an answer. */
export const signedOut = (): void => onSignedOut();

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Options {
  body?: unknown;
  query?: Query;
  signal?: AbortSignal;
  /** Sends with this key in the place of the session, as a program would. */
  apiKey?: string;
  /** Makes a repeated send get the answer of the first one. */
  idempotencyKey?: string;
}

const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504]);

/** Filters as they stand in an address; what is empty is left out. */
export type Query = Readonly<Record<string, string | number | undefined | null>>;

/** One request to this server, with the session's cookie; throws an `ApiError` for everything but a success. */
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
  // A proxy in between gave up waiting.
  const isCut = GATEWAY_ERRORS.has(response.status) && (answer as ErrorBody).error === undefined;
  if (isCut) {
    noteLost();
    throw method === "GET" ? new Unreachable() : new NoAnswer(path);
  }
  // Asking who is signed in, and signing in, tell of it themselves.
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

/** Removes what a list shows. The list is read again also where that failed: what it shows may have gone since it was read. */
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

/** A proxy in between may answer with a page of its own. */
async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}

/** One page of a listing. */
export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** All that a table needs to know of a listing: to be handed to a `DataTable` as it is. */
interface TableState<T> {
  rows: T[];
  loading: boolean;
  error: Error | null;
  retry: () => void;
  hasMore: boolean;
  more: () => void;
  loadingMore: boolean;
}

interface Paged<T> {
  rows: T[];
  table: TableState<T>;
  query: UseInfiniteQueryResult<{ pages: Page<T>[] }>;
}

/** A listing, page by page, by the cursor that each page gives for the next. */
export function usePages<T>(
  path: string,
  query: Query = {},
  options: { enabled?: boolean; refreshMs?: number } = {},
): Paged<T> {
  const result = useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) => get<Page<T>>(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
    refetchInterval: options.refreshMs ?? false,
  });
  const rows = result.data?.pages.flatMap((page) => page.data) ?? [];
  return {
    rows,
    table: {
      rows,
      loading: result.isPending,
      error: result.error,
      retry: () => void result.refetch(),
      hasMore: result.hasNextPage,
      more: () => void result.fetchNextPage(),
      loadingMore: result.isFetchingNextPage,
    },
    query: result,
  };
}
