import { examine } from "../app/doctor/doctor.ts";
import type { Finding } from "../app/doctor/finding.ts";
import { countOf } from "../lib/text.ts";

interface DoctorOptions {
  json?: boolean | undefined;
}

interface Diagnosis {
  text: string;
  exitCode: 0 | 1;
}

/** Prints one line for each check, and for each that is not ok what to do. */
export async function runDoctor(
  environment: Record<string, string | undefined>,
  { json = false }: DoctorOptions,
): Promise<Diagnosis> {
  const findings = await examine(environment);
  const exitCode = findings.some(({ status }) => status === "problem") ? 1 : 0;
  return { text: json ? JSON.stringify({ findings }, null, 2) : describe(findings), exitCode };
}

function describe(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, status, detail, fix }) => [
    `${status.padEnd(7)}  ${check.padEnd(width)}  ${oneLine(detail)}`,
    ...(fix === null ? [] : [`${" ".repeat(9)}→ ${fix}`]),
  ]);
  const numberOf = (status: Finding["status"]): number =>
    findings.filter((finding) => finding.status === status).length;
  const counts = `${numberOf("ok")} ok, ${countOf(numberOf("warning"), "warning")}, ${countOf(numberOf("problem"), "problem")}`;
  return [...lines, "", counts].join("\n");
}

/** Names and reasons come from records and other machines: control characters could forge lines of the report. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
