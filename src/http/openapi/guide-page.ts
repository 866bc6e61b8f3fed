import { findGuide, guidePath, page } from "./frame.ts";
import { Html, html } from "./html.ts";
import type { Guide, Site } from "./site.ts";

/** `GET /docs/guides/:name`: one page of `docs/`, rendered by the build. */
export function guidePage(site: Site, guide: Guide): string {
  const { name, title, about, contents } = guide;
  const order = site.guides.tasks.flatMap(({ names }) => names);
  const at = order.indexOf(name);
  return page(
    site,
    { title: `${title} · Heliograph`, description: about, path: guidePath(name), parts: contents },
    html`<article class="guide-text">${new Html(guide.html)}</article>
      <nav class="neighbours" aria-label="Next and previous guide">
        ${neighbour(site, "Previous", order[at - 1])} ${neighbour(site, "Next", order[at + 1])}
      </nav>`,
  );
}

function neighbour(site: Site, word: string, name: string | undefined): Html | null {
  const guide = name === undefined ? undefined : findGuide(site, name);
  return guide ? html`<a href="${site.href(guidePath(guide.name))}">${word}: ${guide.title}</a>` : null;
}

/** Page for an address without a guide or a group. */
export const unknownPage = (site: Site, kind: "guide" | "group of operations", written: string): string =>
  page(
    site,
    { title: `No such ${kind} · Heliograph`, description: `There is no such ${kind}.`, path: "" },
    html`<h1>No such ${kind}</h1>
      <p class="lead">This server has no ${kind} <code>${written}</code>.</p>
      <p>The <a href="${site.href("/docs")}">first page</a> lists everything.</p>`,
  );
