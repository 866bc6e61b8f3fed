import { CODE_PATTERN } from "../../links/code.ts";
import type { Route } from "../route.ts";
import { shortLinkRoutes } from "../short-link.ts";

const LINK = new RegExp(`^GET /(?:s/)?(${CODE_PATTERN}) HTTP/1\\.1$`);

/**
 * Finds the code in the first line of a request for a short link, as we write links ourselves. At the root a page of the
 * server may look like a code, as `/metrics` does: whatever has a route of its own is none.
 */
export function createCodeFinder(routes: readonly Route[]): (line: string) => string | null {
  if (!shortLinkRoutes.every((route) => routes.includes(route))) return () => null;
  const pages = new Set(routes.map((route) => `GET ${route.path} HTTP/1.1`));
  return (line) => {
    const code = LINK.exec(line)?.[1];
    return code === undefined || pages.has(line) ? null : code;
  };
}
