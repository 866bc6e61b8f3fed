import type { Field, Values } from "../../parts/record/field.ts";
import { ChaosInput } from "./chaos-input.tsx";
import { SMPP_PARTS } from "./smpp-fields.ts";
import { SmppInput } from "./smpp-input.tsx";

/** What a line speaks: what it asks for besides a name and a speed, and whether it tells how it does. */
export interface Adapter {
  value: string;
  label: string;
  about: string;
  fields: readonly Field[];
  starts: Values;
  /** Whether `GET /api/carriers/{id}/state` has something to say about it. */
  tellsState: boolean;
}

/** Every adapter. One that is added here has its form, its health and its place in the list. */
export const ADAPTERS: readonly Adapter[] = [
  {
    value: "simulator",
    label: "Simulator",
    about: "A simulated line of its own, to try out several.",
    starts: { chaos: null },
    tellsState: false,
    fields: [
      {
        name: "chaos",
        label: "It misbehaves in its own way",
        hint: "Otherwise as the account's simulator does.",
        input: { kind: "own", component: ChaosInput },
        absent: null,
      },
    ],
  },
  {
    value: "smpp",
    label: "SMPP",
    about: "A carrier of text messages, which we bind to.",
    starts: { smpp: null },
    tellsState: true,
    fields: [
      {
        name: "smpp",
        label: "The line",
        input: { kind: "own", component: SmppInput },
        parts: SMPP_PARTS,
      },
    ],
  },
];

export const adapterOf = (value: string): Adapter | undefined => ADAPTERS.find((adapter) => adapter.value === value);
