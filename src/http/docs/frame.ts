import type { OpenApi } from "./document.ts";
import { html, type Html } from "./html.ts";

/** What every page knows: the API, and where it is served. */
export interface Site {
  document: OpenApi;
  /** The server's public address, without a slash at the end. */
  baseUrl: string;
  /** A link to one of our own paths, right also where a proxy serves us below a path of its own. */
  href(path: string): string;
}

interface Head {
  title: string;
  description: string;
  /** The path of the entry in the top bar that the page belongs to. */
  area: string;
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#b45309"/><circle cx="16" cy="16" r="5" fill="#fff"/><g stroke="#fff" stroke-width="2.4" stroke-linecap="round"><path d="M16 5v3M16 24v3M5 16h3M24 16h3M8.2 8.2l2.1 2.1M21.7 21.7l2.1 2.1M8.2 23.8l2.1-2.1M21.7 10.3l2.1-2.1"/></g></svg>`,
)}`;

const AREAS = [
  { path: "/docs", name: "Reference" },
  { path: "/docs/errors", name: "Error codes" },
  { path: "/openapi.json", name: "OpenAPI" },
];

/** A whole page: head, bar at the top, and what it is about. */
export function page({ document, href }: Site, { title, description, area }: Head, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        <link rel="stylesheet" href="${href("/docs/style.css")}" />
        <script src="${href("/docs/copy.js")}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="bar">
          <a class="brand" href="${href("/")}"><img src="${ICON}" alt="" width="24" height="24" />Heliograph</a>
          <span class="version">${document.info.version}</span>
          <nav aria-label="Documentation">
            ${AREAS.map(({ path, name }) => html`<a href="${href(path)}" ${path === area && CURRENT}>${name}</a>`)}
          </nav>
        </header>
        ${body}
      </body>
    </html> `.text;
}

const CURRENT = html` aria-current="page"`;
