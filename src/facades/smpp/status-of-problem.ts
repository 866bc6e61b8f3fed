import type { ProblemCode } from "../../model/problem.ts";
import { STATUS, type StatusName } from "../../smpp/status.ts";

/** The command status of each problem of a send. Codes that are absent cannot arise from a submit. */
export const PROBLEM_STATUSES: Readonly<Partial<Record<ProblemCode, StatusName>>> = {
  INVALID_REQUEST: "ESME_RSUBMITFAIL",
  INVALID_RECIPIENT: "ESME_RINVDSTADR",
  MESSAGE_TOO_LONG: "ESME_RINVMSGLEN",
  TOO_MANY_RECIPIENTS: "ESME_RINVNUMDESTS",
  INSUFFICIENT_CREDITS: "ESME_RSUBMITFAIL",
  ACCOUNT_SUSPENDED: "ESME_RSUBMITFAIL",
  SENDER_NOT_REGISTERED: "ESME_RINVSRCADR",
  COUNTRY_NOT_ALLOWED: "ESME_RINVDSTADR",
  RECIPIENT_OPTED_OUT: "ESME_RINVDSTADR",
  ROUTE_NOT_FOUND: "ESME_RSUBMITFAIL",
  RATE_LIMITED: "ESME_RTHROTTLED",
  OVERLOADED: "ESME_RMSGQFUL",
  SERVICE_HELD: "ESME_RMSGQFUL",
  STORAGE_UNAVAILABLE: "ESME_RMSGQFUL",
  STORAGE_FULL: "ESME_RMSGQFUL",
  MESSAGE_NOT_FOUND: "ESME_RINVMSGID",
  NOT_CANCELLABLE: "ESME_RCANCELFAIL",
};

/** A fault of one field says more than the code of its problem. */
const FIELD_STATUSES: Readonly<Record<string, StatusName>> = {
  sender: "ESME_RINVSRCADR",
  to: "ESME_RINVDSTADR",
  text: "ESME_RINVMSGLEN",
  sendAt: "ESME_RINVSCHED",
};

interface Refusal {
  readonly code: ProblemCode;
  readonly faults?: readonly { readonly parameter: string }[] | undefined;
}

/** The command status for a refused submit. */
export function statusOfProblem({ code, faults }: Refusal): number {
  const field = code === "INVALID_REQUEST" ? FIELD_STATUSES[faults?.[0]?.parameter ?? ""] : undefined;
  return STATUS[field ?? PROBLEM_STATUSES[code] ?? "ESME_RSYSERR"];
}

/** The table of `docs/smpp-server.md`. */
export const statusTable = (): string =>
  [
    "| Problem | Status | Value |",
    "| --- | --- | --- |",
    ...Object.entries(PROBLEM_STATUSES).map(
      ([code, status]) => `| ${code} | ${status} | 0x${STATUS[status].toString(16).padStart(2, "0")} |`,
    ),
  ].join("\n");
