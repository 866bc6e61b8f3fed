import { useState } from "react";
import { ApiError } from "../../api.ts";
import { useDraft } from "../use-draft.ts";
import {
  bodyToChange,
  bodyToMake,
  fieldsAsked,
  partsOf,
  withKept,
  withoutSecrets,
  type Field,
  type Values,
} from "./field.ts";

interface Fault {
  parameter: string;
  message: string;
}

export interface RecordFormState {
  values: Values;
  set: (name: string, value: unknown) => void;
  faultAt: (path: string) => string | undefined;
  /** An error that belongs to no visible field. */
  error: Error | null;
  busy: boolean;
  changed: boolean;
  /** True if there are unsaved changes since the form was opened. */
  touched: boolean;
  /** True if the form was filled from a draft of an earlier visit. */
  isRestored: boolean;
  /** Deletes the draft and resets the form. */
  discard: () => void;
  /** Calls `run` with the request body, and assigns the server's errors to their fields. */
  submit: (run: (body: Values) => Promise<unknown>) => Promise<void>;
}

interface Input {
  fields: readonly Field[];
  starts: Values;
  /** The stored record, if there is one. */
  before?: Values | undefined;
  /** Key of the draft in this tab; without it no draft is stored. */
  draft?: string;
}

/** State of a form that is generated from field descriptions. Only the server validates, so the rules exist once. */
export function useRecordForm({ fields, starts, before, draft = "" }: Input): RecordFormState {
  const kept = useDraft<Values>(draft, {});
  const [values, setValues] = useState<Values>(withKept(fields, { ...starts, ...before }, kept.value));
  const [faults, setFaults] = useState<readonly Fault[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [touched, setTouched] = useState(false);
  const body = (): Values => (before ? bodyToChange(fields, values, before) : bodyToMake(fields, values));

  return {
    values,
    set(name, value) {
      const implied = fields.find((field) => field.name === name)?.implies?.(value, values) ?? {};
      const next = { ...values, ...implied, [name]: value };
      setValues(next);
      setTouched(true);
      kept.set(withoutSecrets(fields, next));
      setFaults((old) => old.filter(({ parameter }) => !isWithin(parameter, name)));
    },
    faultAt: (path) =>
      faults.find(({ parameter }) =>
        path.endsWith(".*") ? isWithin(parameter, path.slice(0, -2)) : parameter === path,
      )?.message,
    error,
    busy,
    touched,
    isRestored: kept.isRestored,
    discard() {
      kept.clear();
      setTouched(false);
      setValues({ ...starts, ...before });
      setFaults([]);
    },
    // A learned record can be saved unchanged, which makes it an authored one.
    changed: before === undefined || before.origin === "learned" || Object.keys(body()).length > 0,
    async submit(run) {
      setBusy(true);
      setError(null);
      setFaults([]);
      try {
        // Cleared first, because `run` may mount a new form for the saved record.
        kept.clear();
        await run(body());
        setTouched(false);
      } catch (problem) {
        kept.set(withoutSecrets(fields, values));
        const details = problem instanceof ApiError ? problem.details : [];
        const isShown = ({ parameter }: Fault): boolean => isAskedFor(parameter, fields, values);
        setFaults(details.filter(isShown));
        if (details.length === 0 || !details.every(isShown)) setError(problem as Error);
      } finally {
        setBusy(false);
      }
    },
  };
}

/** True if a path such as `headers[0].key` belongs to the field `headers`. */
const isWithin = (path: string, name: string): boolean =>
  path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`);

/** True if a visible field shows errors of this path. */
const isAskedFor = (path: string, fields: readonly Field[], values: Values): boolean =>
  fieldsAsked(fields, values).some(
    ({ name, parts }) =>
      isWithin(path, name) &&
      (!parts || isAskedFor(path.slice(name.length + 1), parts.fields, partsOf(parts, values[name]))),
  );
