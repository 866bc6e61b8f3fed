import { html, type Html } from "./html.ts";
import type { Guide, Site } from "./site.ts";

interface Head {
  title: string;
  description: string;
  /** Path of this page, marked in the navigation. */
  path: string;
  /** Parts of this page, listed below its entry in the side bar. */
  parts?: readonly Part[];
}

interface Part {
  id: string;
  title: string;
  mark?: Html;
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#b45309"/><circle cx="16" cy="16" r="5" fill="#fff"/><g stroke="#fff" stroke-width="2.4" stroke-linecap="round"><path d="M16 5v3M16 24v3M5 16h3M24 16h3M8.2 8.2l2.1 2.1M21.7 21.7l2.1 2.1M8.2 23.8l2.1-2.1M21.7 10.3l2.1-2.1"/></g></svg>`,
)}`;

const AREAS = [
  { path: "/docs", name: "Guides", below: /^\/docs(?:\/guides\/|$)/ },
  { path: "/docs/reference", name: "Reference", below: /^\/docs\/reference(?:\/|$)/ },
  { path: "/docs/errors", name: "Error codes", below: /^\/docs\/errors(?:\/|$)/ },
];

/** Whole page: head, top bar with the search, side bar and content. */
export function page(site: Site, { title, description, path, parts = [] }: Head, content: Html): string {
  const { document, href, fileHref } = site;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>${title}</title>
        <link rel="icon" href="${ICON}" />
        <link rel="stylesheet" href="${fileHref("style.css")}" />
        <script src="${fileHref("site.js")}" type="module"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="bar">
          <a class="brand" href="${href("/")}"><img src="${ICON}" alt="" width="24" height="24" />Heliograph</a>
          <span class="version">${document.info.version}</span>
          <search class="search" hidden>
            <label for="search">Search guides and reference</label>
            <input
              id="search"
              type="search"
              placeholder="Search (press /)"
              autocomplete="off"
              spellcheck="false"
              role="combobox"
              aria-expanded="false"
              aria-controls="found"
              aria-autocomplete="list"
            />
            <ul id="found" role="listbox" aria-label="Search results" hidden></ul>
            <p class="count" role="status"></p>
          </search>
          <nav aria-label="Documentation">
            <a class="to-contents" href="#contents">Contents</a>
            ${AREAS.map((area) => html`<a href="${href(area.path)}" ${area.below.test(path) && CURRENT}>${area.name}</a>`)}
          </nav>
        </header>
        <div class="shell">
          ${sideBar(site, path, parts)}
          <main id="content">${content}</main>
        </div>
      </body>
    </html> `.text;
}

const CURRENT = html` aria-current="page"`;

function sideBar(site: Site, path: string, parts: readonly Part[]): Html {
  const { groups, guides, href } = site;
  const entry = (to: string, title: string): Html =>
    html`<li>
      <a href="${href(to)}" ${to === path && CURRENT}>${title}</a>
      ${
        to === path &&
        parts.length > 0 &&
        html`<ul>
          ${parts.map(
            (part) =>
              html`<li>
                <a href="#${part.id}"><span>${part.title}</span>${part.mark}</a>
              </li>`,
          )}
        </ul>`
      }
    </li>`;
  return html`<nav class="side" id="contents" aria-label="Contents">
    ${guides.tasks.map(
      ({ title, names }) =>
        html`<section>
          <h2>${title}</h2>
          <ul>
            ${names.map((name) => entry(guidePath(name), findGuide(site, name)?.title ?? name))}
          </ul>
        </section>`,
    )}
    <section>
      <h2>API reference</h2>
      <ul>
        ${entry("/docs/reference", "Conventions and index")}
        ${groups.map(({ id, name }) => entry(`/docs/reference/${id}`, name))} ${entry("/docs/errors", "Error codes")}
        <li><a href="${href("/openapi.json")}">OpenAPI document</a></li>
      </ul>
    </section>
  </nav>`;
}

export const guidePath = (name: string): string => `/docs/guides/${name}`;

export const findGuide = ({ guides }: Site, name: string): Guide | undefined =>
  guides.guides.find((guide) => guide.name === name);
