import { curlOf } from "./curl.ts";
import { page, type Site } from "./frame.ts";
import { codeBlock, html } from "./html.ts";
import { bodyOf, listOperations } from "./operations.ts";

const LINKS = [
  { path: "/docs", name: "API reference", about: "Every operation with fields, examples and failures." },
  { path: "/docs/errors", name: "Error codes", about: "What each means, why it comes and how to mend it." },
  { path: "/openapi.json", name: "OpenAPI document", about: "The same for generators and tools." },
  { path: "/readyz", name: "Health", about: "Whether this server can accept requests now." },
  { path: "/metrics", name: "Metrics", about: "Figures in the format of Prometheus." },
];

/** `GET /docs/start`: what this is, and the first two requests. */
export function landingPage(site: Site): string {
  const { document, baseUrl, href } = site;
  const operations = listOperations(document.paths);
  const send = operations.find(({ path, method }) => path === "/v1/sms" && method === "post");
  const wait = operations.find(({ path }) => path === "/api/simulator/messages/wait");
  return page(
    site,
    { title: "Heliograph", description: "A self-hosted messaging service.", area: "/docs/start" },
    html`<main class="single landing" id="content">
      <header class="intro">
        <h1>Your own messaging service is running.</h1>
        <p class="lead">
          Heliograph accepts messages over HTTP and JSON, keeps them on your disk and tells what became of each. It
          comes with simulated phones, so the first message needs no carrier and no contract.
        </p>
      </header>
      <section>
        <h2>Send the first message</h2>
        <p>
          The first start printed two API keys in the terminal. Put one into <code>HELIOGRAPH_KEY</code>, then send:
        </p>
        ${send && codeBlock("Send", curlOf({ ...send, baseUrl, body: bodyOf(send.operation)?.examples[0]?.[1] }))}
        <p>See it arrive on the simulated phone:</p>
        ${wait && codeBlock("Read", curlOf({ ...wait, baseUrl }))}
      </section>
      <ul class="cards">
        ${LINKS.map(
          ({ path, name, about }) =>
            html`<li>
              <a href="${href(path)}"><strong>${name}</strong><span>${about}</span></a>
            </li>`,
        )}
      </ul>
    </main>`,
  );
}
