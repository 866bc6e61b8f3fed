/** Repetitions of a test: few in `npm test`, many in `npm run test:long`. */
export const repetitions = (few: number, many: number): number =>
  process.env["HELIOGRAPH_TEST_LONG"] === undefined ? few : many;
