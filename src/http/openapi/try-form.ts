import { isStream } from "./curl.ts";
import type { ParameterObject } from "./document.ts";
import { html, prose, type Html } from "./html.ts";
import { bodyOf, isForPeople, isOpen, type Placed } from "./operations.ts";
import type { Site } from "./site.ts";

/**
 * A form that sends the request to this server. `site.js` shows it and sends it without cookies, so that a login in the
 * same browser is not used by accident. People's own operations and endless streams have none.
 */
export function tryForm({ href }: Site, { method, path, operation }: Placed): Html | null {
  if (isForPeople(operation) || isStream(operation)) return null;
  const id = `try-${operation.operationId}`;
  const body = bodyOf(operation)?.examples[0]?.[1];
  const isSent = operation.requestBody !== undefined;
  return html`<details class="try" hidden>
    <summary>Try it</summary>
    <form data-method="${method.toUpperCase()}" data-path="${href(path)}">
      ${!isOpen(operation) && keyField(id)}
      ${(operation.parameters ?? []).map((parameter) => parameterField(id, parameter))}
      ${
        isSent &&
        html`<label for="${id}-body">Body</label>
          <textarea id="${id}-body" data-place="body" rows="${rowsOf(body)}" spellcheck="false">
${body === undefined ? "" : JSON.stringify(body, null, 2)}</textarea>`
      }
      <button type="submit">Send ${method.toUpperCase()} request</button>
      <p class="outcome" role="status"></p>
      <pre class="answer" tabindex="0" aria-label="Response" hidden></pre>
    </form>
  </details>`;
}

const MAX_ROWS = 24;
const rowsOf = (body: unknown): number => Math.min(MAX_ROWS, (JSON.stringify(body, null, 2) ?? "").split("\n").length);

const keyField = (id: string): Html =>
  html`<label for="${id}-key">API key</label>
    <input id="${id}-key" data-place="key" type="password" autocomplete="off" required aria-describedby="${id}-note" />
    <p class="note" id="${id}-note">
      The request goes to this server. The key stays in this page and is gone when you leave it. With a test key,
      messages go to the simulator only.
    </p>`;

function parameterField(id: string, { name, in: place, required, description, example }: ParameterObject): Html {
  const field = `${id}-${place}-${name.toLowerCase().replaceAll(/\W/g, "-")}`;
  const shown = example === undefined ? "" : String(example);
  return html`<label for="${field}"><code>${name}</code>${required ? "" : " (optional)"}</label>
    <input
      id="${field}"
      data-place="${place}"
      data-name="${name}"
      value="${required && shown}"
      placeholder="${shown}"
      autocomplete="off"
      spellcheck="false"
      aria-describedby="${field}-note"
      ${required && REQUIRED}
    />
    <p class="note" id="${field}-note">${prose(description)}</p>`;
}

const REQUIRED = html` required`;
