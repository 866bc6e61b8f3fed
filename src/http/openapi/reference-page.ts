import { conventions } from "./conventions.ts";
import { page } from "./frame.ts";
import { methodBadge } from "./group-page.ts";
import { html, prose } from "./html.ts";
import type { Site } from "./site.ts";

/** `GET /docs/reference`: rules of all operations, and a list of the operations. */
export function referencePage(site: Site): string {
  const sections = conventions(site);
  return page(
    site,
    {
      title: "API reference · Heliograph",
      description: "Every operation of this Heliograph server, with fields, examples and errors.",
      path: "/docs/reference",
      parts: sections,
    },
    html`<header class="intro">
        <h1>API reference</h1>
        <p class="lead">
          Plain HTTP and JSON. These pages are generated from the routes of this server, so they always match the
          version that you call.
        </p>
        <dl class="facts">
          <div>
            <dt>Base URL</dt>
            <dd><code>${site.baseUrl}</code></dd>
          </div>
          <div>
            <dt>Version</dt>
            <dd>${site.document.info.version}</dd>
          </div>
          <div>
            <dt>Specification</dt>
            <dd><a href="${site.href("/openapi.json")}">OpenAPI 3.1</a></dd>
          </div>
        </dl>
      </header>
      ${sections.map(
        ({ id, title, body }) =>
          html`<section class="guide" id="${id}">
            <h2>${title}</h2>
            ${body}
          </section>`,
      )}
      ${site.groups.map(
        ({ id, name, description, operations }) =>
          html`<section class="group">
            <h2 id="${id}"><a href="${site.href(`/docs/reference/${id}`)}">${name}</a></h2>
            <p>${prose(description)}</p>
            <ul class="places">
              ${operations.map(
                ({ method, path, operation }) =>
                  html`<li id="${operation.operationId}">
                    <a href="${site.href(`/docs/reference/${id}`)}#${operation.operationId}"
                      >${methodBadge(method)} <code>${path}</code> ${operation.summary}</a
                    >
                  </li>`,
              )}
            </ul>
          </section>`,
      )}`,
  );
}
