import { STATUS_CODES } from "node:http";
import { customerStatus, FAILURES } from "../../model/message.ts";
import { PROBLEMS, type ProblemCode } from "../../model/problem.ts";
import type { Family } from "../route.ts";
import { codes, sampleFailure } from "./failures.ts";
import { page } from "./frame.ts";
import { methodBadge } from "./group-page.ts";
import { codeBlock, html, json, prose, type Html } from "./html.ts";
import { ADVICE, failureCodes, type FailureCode } from "./message-failures.ts";
import { failuresOf, listOperations, type Placed } from "./operations.ts";
import { operationPath, type Site } from "./site.ts";

const AREA = "/docs/errors";

/** All codes with a page. */
export const errorCodes = (): string[] => [...new Set<string>([...codes(), ...failureCodes()])];

/** `GET /docs/errors`: list of all codes. */
export function errorListPage(site: Site): string {
  const link = (code: string): Html =>
    html`<a href="${site.href(`${AREA}/${code}`)}"><code>${breakable(code)}</code></a>`;
  return page(
    site,
    {
      title: "Error codes · Heliograph",
      description: "Every error code of this Heliograph server, with HTTP status and meaning.",
      path: AREA,
    },
    html`<div class="single">
      <header class="intro">
        <h1>Error codes</h1>
        <p class="lead">
          Error codes are part of the API and do not change. Each has a page with its cause and fix, linked by the
          <code>reference</code> of an error.
        </p>
      </header>
      <section>
        <h2>When a request fails</h2>
        <p>
          In <code>error.code</code>. The request was not accepted. Only after a 500 or
          <code>STORAGE_UNAVAILABLE</code> it may have been, so repeat those with the same <code>Idempotency-Key</code>.
        </p>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">HTTP</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            ${codes().map(
              (code) =>
                html`<tr>
                  <th scope="row">${link(code)}</th>
                  <td>${PROBLEMS[code].status}</td>
                  <td>${prose(PROBLEMS[code].message)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </section>
      <section>
        <h2>When a message fails</h2>
        <p>
          In <code>errCode</code> of an accepted message. These codes are Heliograph's own; codes of carriers appear in
          the same field unchanged.
        </p>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            ${failureCodes().map(
              (code) =>
                html`<tr>
                  <th scope="row">${link(code)}</th>
                  <td>${prose(FAILURES[code])}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </section>
    </div>`,
  );
}

/** `GET /docs/errors/:code`: cause and fix of one code; null for an unknown code. */
export function errorPage(site: Site, written: string): string | null {
  const problem = codes().find((code) => code === written);
  const failure = failureCodes().find((code) => code === written);
  if (!problem && !failure) return null;
  return page(
    site,
    {
      title: `${written} · Heliograph`,
      description: problem ? PROBLEMS[problem].message : failure ? FAILURES[failure] : "",
      path: AREA,
    },
    html`<div class="single">
      ${trail(site)}
      <h1 class="code-name">${breakable(written)}</h1>
      ${problem && problemSection(site, problem)} ${failure && failureSection(failure, problem !== undefined)}
    </div>`,
  );
}

const trail = ({ href }: Site): Html =>
  html`<nav class="trail" aria-label="You are here">
    <a href="${href("/docs/reference")}">Reference</a> <span aria-hidden="true">/</span>
    <a href="${href(AREA)}">Error codes</a>
  </nav>`;

const breakable = (code: string): Html => html`${code.split(/(?<=_)/).map((part) => html`${part}<wbr />`)}`;

function problemSection(site: Site, code: ProblemCode): Html {
  const { status, type, message, cause, fix } = PROBLEMS[code];
  const places = listOperations(site.document.paths).filter(({ operation }) =>
    failuresOf(operation).some((failure) => failure.code === code),
  );
  const { examples } = site.document.components;
  const family: Family = (["send", "otp"] as const).find((each) => `${each}.${code}` in examples) ?? "plain";
  return html`<p class="address">
      <span class="chip">HTTP ${status} ${STATUS_CODES[status]}</span>
      <span class="chip">Type <code>${type}</code></span>
    </p>
    <p class="lead">${prose(message)}</p>
    ${causeAndFix(cause, fix)}
    <p>
      <a href="${site.href("/developers/requests")}?code=${code}">Your last requests with this error</a> are in the
      request log of the dashboard.
    </p>
    <h2>Example response</h2>
    ${codeBlock(`HTTP ${status}`, json(sampleFailure(code, family, site.baseUrl)))}
    ${places.length > 0 && whereItComes(site, places)}`;
}

const causeAndFix = (cause: string, fix: string): Html =>
  html`<h2>Cause</h2>
    <p>${prose(cause)}</p>
    <h2>Fix</h2>
    <p>${prose(fix)}</p>`;

const whereItComes = (site: Site, places: readonly Placed[]): Html =>
  html`<h2>Operations that return it</h2>
    <ul class="places">
      ${places.map(
        (placed) =>
          html`<li>
            <a href="${site.href(operationPath(site, placed))}"
              >${methodBadge(placed.method)} <code>${placed.path}</code></a
            >
          </li>`,
      )}
    </ul>`;

function failureSection(code: FailureCode, second: boolean): Html {
  const { state, cause, fix } = ADVICE[code];
  const example = { status: customerStatus(state), state, errCode: code, statusDescription: FAILURES[code] };
  return html`${second && html`<h2 class="second">As a message failure</h2>`}
    <p class="address">
      <span class="chip">Message ${example.status}</span> <span class="chip">State <code>${state}</code></span>
    </p>
    <p class="lead">${prose(FAILURES[code])}</p>
    ${causeAndFix(cause, fix)}
    <h2>Example message</h2>
    ${codeBlock("Message fields", json(example))}`;
}

/** Page for an unknown code. */
export const unknownErrorPage = (site: Site, written: string): string =>
  page(
    site,
    { title: "No such error code · Heliograph", description: "There is no such error code.", path: AREA },
    html`<div class="single">
      ${trail(site)}
      <h1>No such error code</h1>
      <p class="lead">This server has no code <code>${written}</code>.</p>
      <p>Codes are written in capitals. <a href="${site.href(AREA)}">All error codes</a> are on one page.</p>
    </div>`,
  );
