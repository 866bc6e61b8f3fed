/** Result of one check. Texts name hosts and files, and never a secret. */
export interface Finding {
  /** Subject of the check, such as `data directory`. */
  check: string;
  status: "ok" | "warning" | "problem";
  detail: string;
  /** Advice to the operator; null if there is nothing to do. */
  fix: string | null;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: "ok", detail, fix: null });

export const warning = (check: string, detail: string, fix: string): Finding => ({
  check,
  status: "warning",
  detail,
  fix,
});

export const problem = (check: string, detail: string, fix: string): Finding => ({
  check,
  status: "problem",
  detail,
  fix,
});

/** The code of a system error, or its message. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  return typeof code === "string" ? code : String(error);
}
