import { scriptOf } from "../../carriers/simulator/scripted-outcome.ts";
import { CUSTOMER_STATUSES, statesShownAs } from "../../model/message.ts";
import { SCOPES } from "../../model/api-key.ts";
import { curlOf } from "./curl.ts";
import { sampleFailure } from "./failures.ts";
import { fieldsOf } from "./fields.ts";
import { fieldTable } from "./field-table.ts";
import { codeBlock, html, json, type Html } from "./html.ts";
import { bodyOf, listOperations } from "./operations.ts";
import type { Site } from "./site.ts";

interface Convention {
  id: string;
  title: string;
  body: Html;
}

/** Sections that apply to all operations. */
export const conventions = (site: Site): Convention[] => [
  { id: "authentication", title: "Authentication", body: authentication(site) },
  { id: "idempotency", title: "Idempotency", body: idempotency(site) },
  { id: "failures", title: "Failures", body: failures(site) },
  { id: "lists", title: "Lists", body: lists },
  { id: "statuses", title: "Message statuses", body: statuses() },
  { id: "simulated-phones", title: "Simulated phones", body: simulatedPhones(site) },
];

const authentication = ({ baseUrl }: Site): Html =>
  html`<div class="prose">
      <p>
        Send your API key in the header <code>apikey</code> with every request, except where the operation needs none.
        Examples read it from the variable <code>HELIOGRAPH_KEY</code>.
      </p>
      <p>
        A key starts with <code>hg_live_</code> or <code>hg_test_</code>. Messages of a test key always go to the
        simulator, and a test key cannot read or change live data. The scopes of a key are its permissions:
        ${SCOPES.map((scope, index) => html`${index > 0 && ", "}<code>${scope}</code>`)}. A key is shown once, when it
        is created; the server stores only its digest.
      </p>
      <p>
        A missing, unknown, revoked or expired key gets the same 401. A key can be restricted to networks and to a
        number of requests per second; above that rate the response is 429 with <code>Retry-After</code>.
      </p>
    </div>
    <div class="samples">
      ${codeBlock(
        "Set the key once",
        `export HELIOGRAPH_KEY='hg_live_…'\n\ncurl ${baseUrl}/v1/messages \\\n  -H "apikey: $HELIOGRAPH_KEY"`,
      )}
    </div>`;

function idempotency(site: Site): Html {
  const sending = listOperations(site.document.paths).find(({ operation }) =>
    operation.parameters?.some(({ name }) => name === "Idempotency-Key"),
  );
  const header = sending?.operation.parameters?.find(({ name }) => name === "Idempotency-Key");
  const body = sending && bodyOf(sending.operation)?.examples[0]?.[1];
  return html`<div class="prose">
      <p>
        A request that timed out may or may not have been accepted. With an <code>Idempotency-Key</code> header of 1 to
        255 characters you can repeat it safely: within 24 hours the same key with the same body returns the first
        response again, marked <code>idempotent-replayed: true</code>, and nothing is sent twice.
      </p>
      <p>
        The same key with another body is refused with
        <a href="${site.href("/docs/errors/IDEMPOTENCY_MISMATCH")}">422</a>; a key whose first request is still being
        processed with <a href="${site.href("/docs/errors/IDEMPOTENCY_IN_PROGRESS")}">409</a>. Keys are scoped to
        account and path.
      </p>
    </div>
    <div class="samples">
      ${
        sending &&
        codeBlock(
          "Safe to repeat",
          curlOf({
            ...sending,
            baseUrl: site.baseUrl,
            body,
            headers: { "Idempotency-Key": String(header?.example ?? "") },
          }),
        )
      }
    </div>`;
}

function failures({ document, baseUrl, href }: Site): Html {
  const { schemas } = document.components;
  return html`<div class="prose">
      <p>
        A failed request has a status of 400 or more and an <code>error</code> in the body; nothing was accepted. Send
        operations use the envelope of a success, without records; all others return only <code>message</code> and
        <code>error</code>.
      </p>
      <p>
        Branch on <code>error.code</code>. 429 and 503 have a <code>Retry-After</code> header. Every code has a page
        with its cause and fix: <a href="${href("/docs/errors")}">all error codes</a>.
      </p>
      ${fieldTable("Error object", fieldsOf(schemas.Error ?? {}, schemas), { fromUs: true })}
    </div>
    <div class="samples">
      ${codeBlock("400 from a send operation", json(sampleFailure("INVALID_REQUEST", "send", baseUrl)))}
      ${codeBlock("404 from another", json(sampleFailure("MESSAGE_NOT_FOUND", "plain", baseUrl)))}
    </div>`;
}

const lists = html`<div class="prose">
  <p>
    A list returns <code>data</code> and <code>nextCursor</code>. For the next page, repeat the request with
    <code>cursor</code> set to it; null means that there is none. <code>limit</code> sets the maximum page size.
  </p>
</div>`;

const statuses = (): Html =>
  html`<div class="prose">
    <p>
      A message has one of three statuses, and a more detailed <code>state</code>. A final status does not change, with
      one exception: an expired message with a late delivery receipt becomes delivered.
    </p>
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">States</th>
        </tr>
      </thead>
      <tbody>
        ${CUSTOMER_STATUSES.map(
          (status) =>
            html`<tr>
              <th scope="row">${status}</th>
              <td>${statesShownAs(status).map((state) => html`<code>${state}</code> `)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;

/** Number endings with a scripted outcome, from the simulator. */
function scripts(): { ending: string; meaning: string }[] {
  const endings = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(4, "0"));
  return endings.flatMap((ending) => {
    const meaning = scriptOf(ending);
    return meaning === null ? [] : [{ ending, meaning }];
  });
}

const simulatedPhones = ({ href }: Site): Html =>
  html`<div class="prose">
      <p>
        In the simulator every number is a phone, and its messages can be read back. The last four digits determine the
        outcome, so that a test can choose it. All other numbers follow the account's
        <a href="${href("/docs/reference/simulator")}#getSimulatorChaos">chaos settings</a>, which deliver everything by
        default.
      </p>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Last four digits</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          ${scripts().map(
            ({ ending, meaning }) =>
              html`<tr>
                <th scope="row"><code>${ending}</code></th>
                <td>${meaning.charAt(0).toUpperCase() + meaning.slice(1)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <div class="samples">
      ${codeBlock(
        "Test numbers",
        scripts()
          .map(({ ending }) => `1555010${ending}`)
          .join("\n"),
      )}
    </div>`;
