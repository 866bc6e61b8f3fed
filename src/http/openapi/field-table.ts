import type { Field } from "./fields.ts";
import { html, prose, type Html } from "./html.ts";

/** A table of fields, or nothing without fields. A request's required fields and a response's optional ones are marked. */
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

/** Breaks long names after dots only. */
const breakable = (name: string): Html => html`${name.split(/(?<=\.)/).map((part) => html`${part}<wbr />`)}`;
