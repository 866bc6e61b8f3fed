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
  /** What went wrong that no field is to blame for. */
  error: Error | null;
  busy: boolean;
  changed: boolean;
  /** Something was typed since the form opened, and is not saved. */
  touched: boolean;
  /** The form begins with unsaved work of an earlier visit. */
  isRestored: boolean;
  /** Forgets the unsaved work, and begins anew. */
  discard: () => void;
  /** Sends through `run` what the fields say; the server's faults come back to the fields they name. */
  submit: (run: (body: Values) => Promise<unknown>) => Promise<void>;
}

interface Input {
  fields: readonly Field[];
  starts: Values;
  /** The record as it is, where there is one. */
  before?: Values | undefined;
  /** Names the unsaved work that is kept in this tab; without it, none is. */
  draft?: string;
}

/** The state of a form that is described by its fields. The rules are the server's, so they are written down once. */
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
    // What was learned becomes somebody's own by being saved as it is.
    changed: before === undefined || before.origin === "learned" || Object.keys(body()).length > 0,
    async submit(run) {
      setBusy(true);
      setError(null);
      setFaults([]);
      try {
        // Before the work, which may open the saved record with a form of its own.
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

/** Whether a path such as `headers[0].key` lies in the field `headers`. */
const isWithin = (path: string, name: string): boolean =>
  path === name || path.startsWith(`${name}[`) || path.startsWith(`${name}.`);

/** Whether an input stands for a path; of an object with parts, one of theirs. */
const isAskedFor = (path: string, fields: readonly Field[], values: Values): boolean =>
  fieldsAsked(fields, values).some(
    ({ name, parts }) =>
      isWithin(path, name) &&
      (!parts || isAskedFor(path.slice(name.length + 1), parts.fields, partsOf(parts, values[name]))),
  );
