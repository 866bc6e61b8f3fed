import { numberOf, isSpeltOut, printable, type Numbers } from "../channels/written-number.ts";
import { isUuid } from "../lib/ids.ts";
import { isObject } from "../lib/plain-object.ts";
import { isPlainText } from "../lib/plain-text.ts";
import { Problem, type Fault } from "../model/problem.ts";

/** A request for a code, read and found right as far as it can be told without looking anything up. */
export interface GenerateDraft {
  configId: string;
  /** Digits without plus. */
  number: string;
  /** As it was written, where that was something else. */
  written: string | null;
}

export interface ValidateDraft {
  verifyId: string;
  otp: string;
}

const CONFIG_ID_MAX = 100;
const OTP_MAX = 40;

type Fields = Readonly<Record<string, unknown>>;

/** Reads a request for a code; all that is wrong is told at once. Next: src/verify/generate.ts */
export function readGenerate(body: unknown, numbers: Numbers): GenerateDraft {
  const fields = fieldsOf(body);
  const faults: Fault[] = [];
  const configId = readConfigId(fields, faults);
  const { to } = fields;
  if (typeof to !== "string" || to.trim() === "")
    faults.push({ parameter: "to", message: "Give the recipient as a string: one phone number." });
  const number = typeof to === "string" ? numberOf(to, numbers) : null;
  const isBadNumber = typeof to === "string" && to.trim() !== "" && number === null;
  const message = "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.";
  if (isBadNumber && faults.length === 0)
    throw new Problem("INVALID_RECIPIENT", { faults: [{ parameter: "to", message }] });
  if (isBadNumber) faults.push({ parameter: "to", message });
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  const spelt = typeof to === "string" ? to : "";
  return { configId, number: number ?? "", written: isSpeltOut(spelt, number ?? "") ? null : printable(spelt) };
}

/** The specification calls it both ways. */
function readConfigId(fields: Fields, faults: Fault[]): string {
  const { configId, "config-id": dashed } = fields;
  if (configId !== undefined && dashed !== undefined && configId !== dashed)
    faults.push({ parameter: "config-id", message: "configId and config-id differ: give one of them." });
  const parameter = configId === undefined && dashed !== undefined ? "config-id" : "configId";
  const value = configId ?? dashed;
  const isName =
    typeof value === "string" &&
    value.length <= CONFIG_ID_MAX &&
    isPlainText(value) &&
    value !== "" &&
    value === value.trim();
  if (isName) return value;
  faults.push({
    parameter,
    message: `Give ${parameter} as a string of 1 to ${CONFIG_ID_MAX} characters: the name or the id of a verification configuration.`,
  });
  return "";
}

/** Reads a try at a code. Next: src/verify/check.ts */
export function readValidate(body: unknown): ValidateDraft {
  const fields = fieldsOf(body);
  const faults: Fault[] = [];
  const { verifyId, otp } = fields;
  const id = typeof verifyId === "string" ? verifyId : "";
  if (!isUuid(id.toLowerCase()))
    faults.push({
      parameter: "verifyId",
      message: "Give verifyId as it came in the data of the answer to /v1/verify.",
    });
  if (typeof otp !== "string" || otp.trim() === "" || otp.length > OTP_MAX)
    faults.push({
      parameter: "otp",
      message: "Give the code as a string, as the user typed it; a number would lose its leading zeros.",
    });
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults, echo: echoOf(id) });
  return { verifyId: id, otp: String(otp) };
}

/** The id that a failure repeats: only what could be one. */
const echoOf = (verifyId: unknown): string | null =>
  typeof verifyId === "string" && isUuid(verifyId.toLowerCase()) ? verifyId : null;

function fieldsOf(body: unknown): Fields {
  if (isObject(body)) return body;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: "The body must be a JSON object." }] });
}
