import { STATUS_CODES } from "node:http";
import { customerStatus, FAILURES } from "../../model/message.ts";
import { PROBLEMS, type ProblemCode } from "../../model/problem.ts";
import type { Family } from "../route.ts";
import { codes, sampleFailure } from "./failures.ts";
import { page, type Site } from "./frame.ts";
import { codeBlock, html, json, prose, type Html } from "./html.ts";
import { ADVICE, failureCodes, type FailureCode } from "./message-failures.ts";
import { failuresOf, listOperations, type Placed } from "./operations.ts";

const AREA = "/docs/errors";

/** `GET /docs/errors`: all codes there are. */
export function errorListPage(site: Site): string {
  const link = (code: string): Html =>
    html`<a href="${site.href(`${AREA}/${code}`)}"><code>${breakable(code)}</code></a>`;
  return page(
    site,
    {
      title: "Error codes · Heliograph",
      description: "Every error code of this Heliograph server, with its HTTP status and meaning.",
      area: AREA,
    },
    html`<main class="single" id="content">
      <header class="intro">
        <h1>Error codes</h1>
        <p class="lead">
          Codes are part of the API: they do not change, and each has a page that tells its cause and its fix. The
          <code>reference</code> of an error leads there.
        </p>
      </header>
      <section>
        <h2>When a request fails</h2>
        <p>
          In <code>error.code</code>. Nothing of the request was accepted; only after a 500 or
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
          In <code>errCode</code> of a message that was accepted. These are Heliograph's own; a carrier's codes stand in
          the same field, unchanged.
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
    </main>`,
  );
}

/** `GET /docs/errors/:code`: cause and fix of one code; null when there is no such code. */
export function errorPage(site: Site, written: string): string | null {
  const problem = codes().find((code) => code === written);
  const failure = failureCodes().find((code) => code === written);
  if (!problem && !failure) return null;
  return page(
    site,
    {
      title: `${written} · Heliograph`,
      description: problem ? PROBLEMS[problem].message : failure ? FAILURES[failure] : "",
      area: AREA,
    },
    html`<main class="single" id="content">
      ${trail(site)}
      <h1 class="code-name">${breakable(written)}</h1>
      ${problem && problemSection(site, problem)} ${failure && failureSection(failure, problem !== undefined)}
    </main>`,
  );
}

const trail = ({ href }: Site): Html =>
  html`<nav class="trail" aria-label="You are here">
    <a href="${href("/docs")}">Reference</a> <span aria-hidden="true">/</span>
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
    <h2>An answer with it</h2>
    ${codeBlock(`HTTP ${status}`, json(sampleFailure(code, family, site.baseUrl)))}
    ${places.length > 0 && whereItComes(site, places)}`;
}

const causeAndFix = (cause: string, fix: string): Html =>
  html`<h2>Cause</h2>
    <p>${prose(cause)}</p>
    <h2>Fix</h2>
    <p>${prose(fix)}</p>`;

const whereItComes = ({ href }: Site, places: readonly Placed[]): Html =>
  html`<h2>Where it can come from</h2>
    <ul class="places">
      ${places.map(
        ({ method, path, operation }) =>
          html`<li>
            <a href="${href("/docs")}#${operation.operationId}"
              ><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></a
            >
          </li>`,
      )}
    </ul>`;

function failureSection(code: FailureCode, second: boolean): Html {
  const { state, cause, fix } = ADVICE[code];
  const example = { status: customerStatus(state), state, errCode: code, statusDescription: FAILURES[code] };
  return html`${second && html`<h2 class="second">As the failure of one message</h2>`}
    <p class="address">
      <span class="chip">Message ${example.status}</span> <span class="chip">State <code>${state}</code></span>
    </p>
    <p class="lead">${prose(FAILURES[code])}</p>
    ${causeAndFix(cause, fix)}
    <h2>In the message</h2>
    ${codeBlock("Among its fields", json(example))}`;
}

/** The page for a code that does not exist. */
export const unknownErrorPage = (site: Site, written: string): string =>
  page(
    site,
    { title: "No such error code · Heliograph", description: "There is no such error code.", area: AREA },
    html`<main class="single" id="content">
      ${trail(site)}
      <h1>No such error code</h1>
      <p class="lead">This server has no code <code>${written}</code>.</p>
      <p>Codes are written in capitals. <a href="${site.href(AREA)}">All error codes</a> are on one page.</p>
    </main>`,
  );
