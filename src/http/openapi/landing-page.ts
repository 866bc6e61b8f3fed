import { curlOf } from "./curl.ts";
import { findGuide, guidePath, page } from "./frame.ts";
import { codeBlock, html } from "./html.ts";
import { bodyOf, listOperations } from "./operations.ts";
import type { Site } from "./site.ts";

/** `GET /docs`: the first two requests, the guides by task, and the groups of the reference. */
export function landingPage(site: Site): string {
  const { document, baseUrl, groups, guides, href } = site;
  const operations = listOperations(document.paths);
  const send = operations.find(({ path, method }) => path === "/v1/sms" && method === "post");
  const wait = operations.find(({ path }) => path === "/api/simulator/messages/wait");
  return page(
    site,
    { title: "Documentation · Heliograph", description: "Guides and API reference of this server.", path: "/docs" },
    html`<header class="intro">
        <h1>Your own messaging service is running.</h1>
        <p class="lead">
          Heliograph accepts messages over HTTP and JSON, stores them on your disk and reports the delivery of each. It
          comes with simulated phones, so the first message needs no carrier and no contract.
        </p>
      </header>
      <section class="first">
        <h2>Send the first message</h2>
        <p>
          The first start printed two API keys in the terminal. Put one into <code>HELIOGRAPH_KEY</code>, then send:
        </p>
        ${send && codeBlock("Send", curlOf({ ...send, baseUrl, body: bodyOf(send.operation)?.examples[0]?.[1] }))}
        <p>See it arrive on the simulated phone:</p>
        ${wait && codeBlock("Read", curlOf({ ...wait, baseUrl }))}
      </section>
      ${
        guides.tasks.length === 0 &&
        html`<p>
          The guides are not built. <code>npm ci --include=dev</code> and a restart build them; they are also in the
          folder <code>docs</code>.
        </p>`
      }
      ${guides.tasks.map(
        ({ title, names }) =>
          html`<section>
            <h2>${title}</h2>
            <ul class="cards">
              ${names.map((name) => {
                const guide = findGuide(site, name);
                return html`<li>
                  <a href="${href(guidePath(name))}"><strong>${guide?.title}</strong><span>${guide?.about}</span></a>
                </li>`;
              })}
            </ul>
          </section>`,
      )}
      <section>
        <h2>API reference</h2>
        <ul class="cards">
          ${groups.map(
            ({ id, name, description }) =>
              html`<li>
                <a href="${href(`/docs/reference/${id}`)}"
                  ><strong>${name}</strong><span>${description.replaceAll("`", "")}</span></a
                >
              </li>`,
          )}
        </ul>
        <p class="more">
          <a href="${href("/docs/reference")}">All operations on one page</a>,
          <a href="${href("/docs/errors")}">error codes</a>, the
          <a href="${href("/openapi.json")}">OpenAPI document</a> for code generators, the
          <a href="${href("/readyz")}">readiness</a> of this server and its <a href="${href("/metrics")}">metrics</a>.
        </p>
      </section>`,
  );
}
