import { FAILURES } from "../../model/message.ts";
import { PROBLEMS } from "../../model/problem.ts";
import { codes } from "./failures.ts";
import { ADVICE, failureCodes } from "./message-failures.ts";

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;

/** The table of request failures in `docs/errors.md`. */
export const errorsTable = (): string =>
  [
    row("Code", "HTTP", "Meaning", "Fix"),
    "|---|---|---|---|",
    ...codes().map((code) =>
      row(`\`${code}\``, String(PROBLEMS[code].status), PROBLEMS[code].message, PROBLEMS[code].fix),
    ),
  ].join("\n");

/** The table of message failures in `docs/errors.md`. */
export const messageFailuresTable = (): string =>
  [
    row("Code", "Meaning", "Fix"),
    "|---|---|---|",
    ...failureCodes().map((code) => row(`\`${code}\``, FAILURES[code], ADVICE[code].fix)),
  ].join("\n");
