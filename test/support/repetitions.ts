/** Repetitions of a test: few in `npm test`, many in `npm run test:long`. */
export const repetitions = (few: number, many: number): number =>
  process.env["HELIOGRAPH_TEST_LONG"] === undefined ? few : many;

const FIXED_SEED = 747_850_741;

/**
 * The seed of a random test. `npm test` always uses the same one, so equal code gives equal results; a setting repeats a
 * run, and `npm run test:long` draws a new seed each time.
 */
export function testSeed(wanted?: string): number {
  if (wanted !== undefined && wanted !== "") return Number(wanted);
  return repetitions(FIXED_SEED, Math.floor(Math.random() * 2 ** 31));
}
