import { useForm, type UseFormInput, type UseFormReturnType } from "@mantine/form";
import { useState } from "react";
import { ApiError } from "./api.ts";

interface ApiForm<V extends Record<string, unknown>> {
  form: UseFormReturnType<V>;
  /** Calls `run` with the values. Field errors appear beside their fields; any other error is in `error`. */
  submit: (run: (values: V) => Promise<unknown>) => (event?: React.FormEvent<HTMLFormElement>) => void;
  error: Error | null;
  busy: boolean;
}

/** A form that the server validates, so the rules exist in one place only. */
export function useApiForm<V extends Record<string, unknown>>(input: UseFormInput<V>): ApiForm<V> {
  const form = useForm<V>(input);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);

  async function send(run: (values: V) => Promise<unknown>, values: V): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await run(values);
    } catch (problem) {
      const details = problem instanceof ApiError ? problem.details : [];
      const own = details.filter(({ parameter }) => parameter in values);
      form.setErrors(Object.fromEntries(own.map(({ parameter, message }) => [parameter, message])));
      if (own.length === 0 || own.length < details.length) setError(problem as Error);
    } finally {
      setBusy(false);
    }
  }

  return { form, submit: (run) => form.onSubmit((values) => void send(run, values)), error, busy };
}
