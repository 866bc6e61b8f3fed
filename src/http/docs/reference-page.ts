import type { Operation, ParameterObject } from "./document.ts";
import { curlOf, filledPath } from "./curl.ts";
import { fieldTable } from "./field-table.ts";
import { fieldsOf, type Field } from "./fields.ts";
import { page, type Site } from "./frame.ts";
import { guides } from "./guides.ts";
import { codeBlock, html, json, prose, type Html } from "./html.ts";
import { bodyOf, failuresOf, isForPeople, listOperations, scopeOf, successOf, type Placed } from "./operations.ts";

interface Group {
  id: string;
  name: string;
  description: string;
  operations: Placed[];
  /** Calls that we make, not calls to us. */
  fromUs: boolean;
}

/** `GET /docs`: everything about the API on one page. */
export function referencePage(site: Site): string {
  const groups = groupsOf(site);
  const written = guides(site);
  return page(
    site,
    {
      title: "API reference · Heliograph",
      description: "Every operation of this Heliograph server, with its fields, examples and failures.",
      area: "/docs",
    },
    html`<div class="shell">
      <nav class="side" aria-label="Contents">
        <section>
          <h2><a href="#content">Start here</a></h2>
          <ul>
            ${written.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
          </ul>
        </section>
        ${groups.map(sideEntry)}
      </nav>
      <main id="content">
        <header class="intro">
          <h1>API reference</h1>
          <p class="lead">
            Plain HTTP and JSON: send a message, read back what became of it. This page is made from the routes of the
            server you are reading it on, so it is always the version that answers you.
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
              <dt>For machines</dt>
              <dd><a href="${site.href("/openapi.json")}">OpenAPI 3.1</a></dd>
            </div>
          </dl>
        </header>
        ${written.map(
          ({ id, title, body }) =>
            html`<section class="guide" id="${id}">
              <h2>${title}</h2>
              ${body}
            </section>`,
        )}
        ${groups.map((group) => groupSection(site, group))}
      </main>
    </div>`,
  );
}

function groupsOf({ document }: Site): Group[] {
  const operations = listOperations(document.paths);
  const groups = document.tags.map(({ name, description = "" }) => ({
    id: slug(name),
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
    fromUs: false,
  }));
  const callbacks: Group = {
    id: "callbacks",
    name: "Callbacks",
    description:
      "Calls that the service makes to your URL, set up as webhooks and delivery reports. Each is signed with the secret of its endpoint. What is not answered with a 2xx within 15 seconds is tried again, nine times over three days; what is told of one message comes in order.",
    operations: listOperations(document.webhooks),
    fromUs: true,
  };
  return [...groups, callbacks];
}

const slug = (name: string): string => name.toLowerCase().replaceAll(/\W+/g, "-");

const sideEntry = ({ id, name, operations }: Group): Html =>
  html`<section>
    <h2><a href="#${id}">${name}</a></h2>
    <ul>
      ${operations.map(
        ({ method, operation }) =>
          html`<li>
            <a href="#${operation.operationId}"><span>${operation.summary}</span>${badge(method)}</a>
          </li>`,
      )}
    </ul>
  </section>`;

const badge = (method: string): Html => html`<span class="method ${method}">${method.toUpperCase()}</span>`;

const groupSection = (site: Site, { id, name, description, operations, fromUs }: Group): Html =>
  html`<section class="group" id="${id}">
    <h2>${name}</h2>
    <p class="lead">${prose(description)}</p>
    ${operations.map((placed) => operationArticle(site, placed, fromUs))}
  </section>`;

function operationArticle(site: Site, placed: Placed, fromUs: boolean): Html {
  const { method, path, operation } = placed;
  const scope = scopeOf(operation);
  return html`<article class="operation" id="${operation.operationId}">
    <div class="telling">
      <h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
      <p class="address">
        ${badge(method)} <code>${fromUs ? "your URL" : path}</code>
        ${
          fromUs
            ? html`<span class="chip">Signed</span>`
            : isForPeople(operation)
              ? html`<span class="chip">For people who are logged in</span>`
              : scope === null
                ? html`<span class="chip">No key needed</span>`
                : html`<span class="chip">Scope <code>${scope}</code></span>
                    <span class="chip">Role <code>${operation["x-role"]}</code></span>`
        }
      </p>
      <p>${prose(operation.description)}</p>
      ${parameterTables(operation)} ${bodyTables(site, operation, fromUs)} ${failureList(site, operation)}
    </div>
    <div class="samples">${fromUs ? callbackSamples(placed) : samples(site, placed)}</div>
  </article>`;
}

const PLACES = [
  ["path", "Path parameters"],
  ["query", "Query parameters"],
  ["header", "Headers"],
] as const;

function parameterTables({ parameters = [] }: Operation): Html[] {
  return PLACES.map(([place, title]) =>
    fieldTable(title, parameters.filter((parameter) => parameter.in === place).map(fieldOfParameter)),
  );
}

const fieldOfParameter = ({ name, required, description, schema }: ParameterObject): Field => ({
  name,
  required,
  description,
  type: schema.enum ? schema.enum.map((value) => JSON.stringify(value)).join(", ") : "string",
});

function bodyTables({ document }: Site, operation: Operation, fromUs: boolean): Html {
  const { schemas } = document.components;
  const body = bodyOf(operation);
  const success = successOf(operation);
  return html`${body && fieldTable("Body", fieldsOf(body.schema, schemas), { fromUs })}
  ${success && fieldTable("Answer", fieldsOf(success.schema, schemas), { fromUs: true })}`;
}

function failureList({ href }: Site, operation: Operation): Html | null {
  const failures = failuresOf(operation);
  if (failures.length === 0) return null;
  return html`<h4>Failures</h4>
    <ul class="codes">
      ${failures.map(
        ({ status, code }) =>
          html`<li>
            <a href="${href(`/docs/errors/${code}`)}"><span>${status}</span> ${code}</a>
          </li>`,
      )}
    </ul>`;
}

function samples({ baseUrl }: Site, { method, path, operation }: Placed): Html {
  const body = bodyOf(operation);
  const success = successOf(operation);
  const requests = body?.examples.map(([name, value]): [string, string] => [
    name,
    curlOf({ baseUrl, method, path, operation, body: value }),
  ]) ?? [["", curlOf({ baseUrl, method, path, operation })]];
  return html`${examples(
    operation.operationId,
    "Request",
    requests.map(([name, text]) => [name, html`${text}`]),
  )}
  ${success && codeBlock(`Answer ${success.status}`, shown(success.type, success.example))}`;
}

const shown = (type: string, example: unknown): Html =>
  type === "application/json" ? json(example) : html`${String(example).trimEnd()}`;

function callbackSamples({ operation }: Placed): Html {
  const body = bodyOf(operation);
  if (!body) return codeBlock("Request", `GET ${filledPath("/your/path", operation.parameters ?? [])}`);
  return examples(
    operation.operationId,
    "Body",
    body.examples.map(([name, value]) => [name, json(value)]),
  );
}

/** One example stands open; of several one is open at a time. */
function examples(operationId: string, heading: string, all: readonly (readonly [string, Html])[]): Html {
  const [first] = all;
  if (all.length === 1 && first) return codeBlock(first[0] === "" ? heading : `${heading}: ${first[0]}`, first[1]);
  return html`<div class="choice">
    ${all.map(
      ([name, code], index) =>
        html`<details name="${operationId}" ${index === 0 && OPEN}>
          <summary>${heading}: ${name}</summary>
          ${codeBlock("", code)}
        </details>`,
    )}
  </div>`;
}

const OPEN = html` open`;
