import { totalmem } from "node:os";
import { BadSetting, type Config } from "../config.ts";
import { smallestBudget } from "../http/body-budget.ts";

const MIB = 1_048_576;
/** JSON escapes a character as six bytes (`\u0939`), as many libraries do with all that is not ASCII. */
const ESCAPED_BYTES = 6;
/** Punctuation, number and further values of a recipient. */
const RECIPIENT_BYTES = 256;
const BODY_MAX_DEFAULT_MB = 64;
const MEMORY_SHARE = 8;
/** More bodies at once than fit here are not handled faster: one event loop handles them. */
const MEMORY_DEFAULT_MAX_MB = 256;

type BodySettings = Pick<Config, "bodyMaxMb" | "bodyMemoryMb" | "recipientsMax" | "textMax">;

/** Memory of the container, or of the machine if it is not limited. */
export const availableMemory = (): number => Math.min(process.constrainedMemory() || Infinity, totalmem());

/** The largest body, and the memory of all bodies together. Throws if one body does not fit into the configured memory. */
export function bodyLimitsOf(
  settings: BodySettings,
  memoryBytes: number,
): { bodyBytesMax: number; budgetBytes: number } {
  const { bodyMaxMb, bodyMemoryMb, recipientsMax, textMax } = settings;
  const largestSendMb = Math.ceil((recipientsMax * (textMax * ESCAPED_BYTES + RECIPIENT_BYTES)) / MIB);
  const bodyMb = bodyMaxMb ?? Math.min(BODY_MAX_DEFAULT_MB, largestSendMb);
  const neededMb = Math.ceil(smallestBudget(bodyMb * MIB, recipientsMax) / MIB);
  if (bodyMemoryMb !== null && bodyMemoryMb < neededMb)
    throw new BadSetting(
      `HELIOGRAPH_BODY_MEMORY_MB must be at least ${neededMb} for bodies of ${bodyMb} MB (HELIOGRAPH_BODY_MAX_MB)`,
    );
  const defaultMb = Math.min(MEMORY_DEFAULT_MAX_MB, Math.floor(memoryBytes / MEMORY_SHARE / MIB));
  return { bodyBytesMax: bodyMb * MIB, budgetBytes: (bodyMemoryMb ?? Math.max(neededMb, defaultMb)) * MIB };
}
