import { scriptOf } from "../../carriers/simulator/fate.ts";
import { CUSTOMER_STATUSES, statesShownAs } from "../../model/message.ts";
import { SCOPES } from "../../model/api-key.ts";
import { curlOf } from "./curl.ts";
import { sampleFailure } from "./failures.ts";
import { fieldsOf } from "./fields.ts";
import { fieldTable } from "./field-table.ts";
import type { Site } from "./frame.ts";
import { codeBlock, html, json, type Html } from "./html.ts";
import { bodyOf, listOperations } from "./operations.ts";

interface Guide {
  id: string;
  title: string;
  body: Html;
}

/** What holds for all operations, told once. */
export const guides = (site: Site): Guide[] => [
  { id: "authentication", title: "Authentication", body: authentication(site) },
  { id: "idempotency", title: "Idempotency", body: idempotency(site) },
  { id: "failures", title: "Failures", body: failures(site) },
  { id: "lists", title: "Lists", body: lists },
  { id: "statuses", title: "Message statuses", body: statuses() },
  { id: "simulated-phones", title: "Simulated phones", body: simulatedPhones() },
];

const authentication = ({ baseUrl }: Site): Html =>
  html`<div class="telling">
      <p>
        Send your API key in the header <code>apikey</code>, with every request that is not marked as needing none.
        Examples on this page take it from the variable <code>HELIOGRAPH_KEY</code>.
      </p>
      <p>
        A key starts with <code>hg_live_</code> or <code>hg_test_</code>. Messages of a test key never leave the
        simulator. What a key may do is told by its scopes:
        ${SCOPES.map((scope, index) => html`${index > 0 && ", "}<code>${scope}</code>`)}. A key is shown once, when it
        is made; the server keeps only a digest of it.
      </p>
      <p>
        A missing, unknown, revoked or expired key is answered with 401, always alike. A key can be held to networks and
        to a number of requests per second; beyond that the answer is 429 with <code>Retry-After</code>.
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
  return html`<div class="telling">
      <p>
        A request that was cut off may or may not have been accepted. Give it an <code>Idempotency-Key</code> header of
        1 to 255 characters and you can repeat it without fear: within 24 hours the same key with the same body gives
        the first answer again, marked <code>idempotent-replayed: true</code>, and nothing is sent twice.
      </p>
      <p>
        The same key with another body is refused with
        <a href="${site.href("/docs/errors/IDEMPOTENCY_MISMATCH")}">422</a>; a key whose first request is still being
        worked on with <a href="${site.href("/docs/errors/IDEMPOTENCY_IN_PROGRESS")}">409</a>. Keys count per account
        and path.
      </p>
    </div>
    <div class="samples">
      ${
        sending &&
        codeBlock(
          "Safe to repeat",
          curlOf({ ...sending, baseUrl: site.baseUrl, body, headers: { "Idempotency-Key": header?.example ?? "" } }),
        )
      }
    </div>`;
}

function failures({ document, baseUrl, href }: Site): Html {
  const { schemas } = document.components;
  return html`<div class="telling">
      <p>
        A request that fails has a status of 400 or more and an <code>error</code> in the body; nothing of it was
        accepted. Send operations put the error into the envelope of their success, with no records in it; all others
        answer <code>message</code> and <code>error</code> alone.
      </p>
      <p>
        Branch on <code>error.code</code>. 429 and 503 say with <code>Retry-After</code> when to come back. Every code
        has a page with its cause and its fix: <a href="${href("/docs/errors")}">all error codes</a>.
      </p>
      ${fieldTable("The error object", fieldsOf(schemas.Error ?? {}, schemas), { fromUs: true })}
    </div>
    <div class="samples">
      ${codeBlock("400 from a send operation", json(sampleFailure("INVALID_REQUEST", "send", baseUrl)))}
      ${codeBlock("404 from another", json(sampleFailure("MESSAGE_NOT_FOUND", "plain", baseUrl)))}
    </div>`;
}

const lists = html`<div class="telling">
  <p>
    A list answers <code>data</code> and <code>nextCursor</code>. Ask again with <code>cursor</code> set to it for the
    next page; null means that there is none. <code>limit</code> sets how many records a page has at most.
  </p>
</div>`;

const statuses = (): Html =>
  html`<div class="telling">
    <p>
      A message has one of three statuses for people, and behind it a finer <code>state</code>. It never goes back, with
      one exception: a message that counted as expired and was delivered after all is delivered.
    </p>
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">States behind it</th>
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

/** The endings that script a fate, as the simulator knows them. */
function scripts(): { ending: string; meaning: string }[] {
  const endings = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(4, "0"));
  return endings.flatMap((ending) => {
    const meaning = scriptOf(ending);
    return meaning === null ? [] : [{ ending, meaning }];
  });
}

const simulatedPhones = (): Html =>
  html`<div class="telling">
      <p>
        In the simulator every number is a phone, and what it receives can be read back. The last four digits decide
        what becomes of a message, so that a test can ask for any outcome. All other numbers follow the account's
        <a href="#getSimulatorChaos">chaos settings</a>, which deliver everything unless changed.
      </p>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Last four digits</th>
            <th scope="col">What happens</th>
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
        "Numbers to try",
        scripts()
          .map(({ ending }) => `1555010${ending}`)
          .join("\n"),
      )}
    </div>`;
