import { bodyChecker, hasNoFaults, type CheckedBody } from "../channels/check-body.ts";
import { numberOf, isInternational, printable, type NumberSettings } from "../channels/parse-number.ts";
import { readAddress } from "../email/address.ts";
import type { Infer } from "../lib/schema.ts";
import { Problem, type Fault } from "../model/problem.ts";
import { configIdRule, generateBody, outcomeBody, validateBody } from "../model/verify-bodies.ts";
import { readLocale } from "../model/locale.ts";
import { API_SOURCE, type CodeSource } from "../model/verification.ts";

/** A request for a code whose body is right; records have not been looked up yet. */
export interface GenerateDraft {
  configId: string;
  /** Digits without plus. */
  number: string;
  /** As the caller wrote it, where that differs from the number; otherwise null. */
  written: string | null;
  /** For the channel `email`; null without one. */
  email: string | null;
  /** A code that the caller chose; null where one is generated. */
  code: string | null;
  /** The user's language; null for the configuration's text. */
  locale: string | null;
  /** The product that made the code; null where one is generated. */
  source: CodeSource | null;
}

const checkGenerate = bodyChecker(generateBody);

/** Reads a request for a code and reports all faults at once. Next: src/otp/generate.ts */
export function readGenerate(given: unknown, numbers: NumberSettings): GenerateDraft {
  const body = checkGenerate(given);
  addConfigIdFaults(body);
  if (body.given.mode === "deliver" && body.given.code === undefined)
    body.faults.push({ parameter: "code", message: 'mode "deliver" needs code: the code that your product made.' });
  if (body.given.source !== undefined && body.given.code === undefined)
    body.faults.push({ parameter: "source", message: "source needs code: it names the product that made the code." });
  const { to = null } = body.fields;
  const number = to === null ? null : numberOf(to, numbers);
  const badNumber = to !== null && number === null ? [BAD_NUMBER] : [];
  if (!hasNoFaults(body)) throw new Problem("INVALID_REQUEST", { faults: [...body.faults, ...badNumber] });
  if (number === null) throw new Problem("INVALID_RECIPIENT", { faults: badNumber });
  const { fields } = body;
  return {
    configId: fields.configId ?? fields["config-id"] ?? "",
    number,
    written: isInternational(fields.to, number) ? null : printable(fields.to),
    email: fields.email === undefined ? null : readAddress(fields.email.trim()),
    code: fields.code ?? null,
    locale: fields.locale === undefined ? null : readLocale(fields.locale),
    source:
      fields.code === undefined ? null : { name: fields.source ?? API_SOURCE, deliverOnly: fields.mode === "deliver" },
  };
}

const BAD_NUMBER: Fault = {
  parameter: "to",
  message: "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.",
};

/** The specification has both names. */
function addConfigIdFaults({ given, fields, faults }: CheckedBody<Infer<typeof generateBody>>): void {
  if (given.configId === undefined && given["config-id"] === undefined)
    faults.unshift({ parameter: "configId", message: configIdRule("configId") });
  const { configId: plain, "config-id": dashed } = fields;
  if (plain !== undefined && dashed !== undefined && plain !== dashed)
    faults.push({ parameter: "config-id", message: "configId and config-id differ: give one of them." });
}

export type ValidateDraft = Infer<typeof validateBody>;

const checkValidate = bodyChecker(validateBody);

/** Reads an attempt to verify a code. Next: src/otp/check.ts */
export function readValidate(given: unknown): ValidateDraft {
  const body = checkValidate(given);
  // A refusal repeats the id that it is about.
  if (!hasNoFaults(body))
    throw new Problem("INVALID_REQUEST", { faults: body.faults, echo: body.fields.verifyId ?? null });
  return body.fields;
}

export type OutcomeDraft = Infer<typeof outcomeBody>;

const checkOutcome = bodyChecker(outcomeBody);

/** Reads the report of a product that checks codes itself. Next: src/otp/outcome.ts */
export function readOutcome(given: unknown): OutcomeDraft {
  const body = checkOutcome(given);
  if (!hasNoFaults(body)) throw new Problem("INVALID_REQUEST", { faults: body.faults });
  return body.fields;
}
