import type { Field } from "./fields.ts";
import { html, prose, type Html } from "./html.ts";

/** A table of fields; nothing when there are none. Of what we send, a field that may be absent is the news; of what you send, one that must be there. */
export function fieldTable(title: string, fields: readonly Field[], { fromUs = false } = {}): Html {
  if (fields.length === 0) return html``;
  const mark = (required: boolean): Html | false =>
    fromUs
      ? !required && html` <span class="need">sometimes</span>`
      : required
        ? html` <span class="need must">required</span>`
        : html` <span class="need">optional</span>`;
  return html`<table class="fields">
    <caption>
      ${title}
    </caption>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${fields.map(
        ({ name, type, required, description }) =>
          html`<tr>
            <th scope="row"><code>${breakable(name)}</code>${mark(required)}</th>
            <td><span class="type">${type}</span>${prose(description)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** Long names break after their dots, not in the middle of a word. */
const breakable = (name: string): Html => html`${name.split(/(?<=\.)/).map((part) => html`${part}<wbr />`)}`;
