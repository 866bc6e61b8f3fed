import type { Operation, ParameterObject } from "./document.ts";
import { filledPath } from "./curl.ts";
import { fieldTable } from "./field-table.ts";
import { fieldsOf, type Field } from "./fields.ts";
import { page } from "./frame.ts";
import { codeBlock, html, json, prose, type Html } from "./html.ts";
import { bodyOf, failuresOf, isForPeople, scopeOf, successOf, type Placed } from "./operations.ts";
import { samplesOf, type Sample } from "./request-samples.ts";
import type { Group, Site } from "./site.ts";
import { tryForm } from "./try-form.ts";

/** `GET /docs/reference/:group`: the operations of one group. */
export function groupPage(site: Site, { id, name, description, operations, fromUs }: Group): string {
  return page(
    site,
    {
      title: `${name} · Heliograph`,
      description,
      path: `/docs/reference/${id}`,
      parts: operations.map(({ method, operation }) => ({
        id: operation.operationId,
        title: operation.summary,
        mark: methodBadge(method),
      })),
    },
    html`<header class="intro">
        <h1>${name}</h1>
        <p class="lead">${prose(description)}</p>
      </header>
      ${operations.map((placed) => operationArticle(site, placed, fromUs))}`,
  );
}

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method}">${method.toUpperCase()}</span>`;

function operationArticle(site: Site, placed: Placed, fromUs: boolean): Html {
  const { method, path, operation } = placed;
  const scope = scopeOf(operation);
  return html`<article class="operation" id="${operation.operationId}">
    <div class="prose">
      <h2><a href="#${operation.operationId}">${operation.summary}</a></h2>
      <p class="address">
        ${methodBadge(method)} <code>${fromUs ? "your URL" : path}</code>
        ${
          fromUs
            ? html`<span class="chip">Signed</span>`
            : isForPeople(operation)
              ? html`<span class="chip">Login required</span>`
              : scope === null
                ? html`<span class="chip">No key needed</span>`
                : html`<span class="chip">Scope <code>${scope}</code></span>
                    <span class="chip">Role <code>${operation["x-role"]}</code></span>
                    ${operation["x-test-keys"] === "refused" ? html`<span class="chip">No test keys</span>` : ""}`
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
  return html`<h3>Failures</h3>
    <ul class="codes">
      ${failures.map(
        ({ status, code }) =>
          html`<li>
            <a href="${href(`/docs/errors/${code}`)}"><span>${status}</span> ${code}</a>
          </li>`,
      )}
    </ul>`;
}

function samples(site: Site, placed: Placed): Html {
  const { operation } = placed;
  const { baseUrl } = site;
  const body = bodyOf(operation);
  const success = successOf(operation);
  const requests = body?.examples.map(([name, value]): [string, Sample[]] => [
    name,
    samplesOf({ ...placed, baseUrl, body: value }),
  ]) ?? [["", samplesOf({ ...placed, baseUrl })]];
  return html`${examples(
    operation.operationId,
    "Request",
    requests.map(([name, all]) => [name, (heading) => languages(heading, all)]),
  )}
  ${success && codeBlock(`Answer ${success.status}`, shown(success.type, success.example))} ${tryForm(site, placed)}`;
}

/** Shows the first language; `site.js` adds a list to choose another. */
const languages = (heading: string, all: readonly Sample[]): Html =>
  html`<figure class="code">
    <figcaption>${heading}</figcaption>
    ${all.map(
      ({ id, language, code }, index) =>
        html`<pre
          tabindex="0"
          data-sample="${id}"
          data-language="${language}"
          ${index > 0 && HIDDEN}
        ><code>${code}</code></pre>`,
    )}
  </figure>`;

const HIDDEN = html` hidden`;

const shown = (type: string, example: unknown): Html =>
  type === "application/json" ? json(example) : html`${String(example).trimEnd()}`;

function callbackSamples({ operation }: Placed): Html {
  const body = bodyOf(operation);
  if (!body) return codeBlock("Request", `GET ${filledPath("/your/path", operation.parameters ?? [])}`);
  return examples(
    operation.operationId,
    "Body",
    body.examples.map(([name, value]) => [name, (heading) => codeBlock(heading, json(value))]),
  );
}

/** The first example is open; at most one is open at a time. */
function examples(
  operationId: string,
  heading: string,
  all: readonly (readonly [string, (heading: string) => Html])[],
): Html {
  const [first] = all;
  if (all.length === 1 && first) return first[1](first[0] === "" ? heading : `${heading}: ${first[0]}`);
  return html`<div class="choice">
    ${all.map(
      ([name, render], index) =>
        html`<details name="${operationId}" ${index === 0 && OPEN}>
          <summary>${heading}: ${name}</summary>
          ${render("")}
        </details>`,
    )}
  </div>`;
}

const OPEN = html` open`;
