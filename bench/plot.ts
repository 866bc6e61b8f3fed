// Pictures of what bench/results holds, as SVG files in docs/performance. What was not measured has no picture.
// Run: npm run bench:plot
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { say } from "./figures.ts";
import { growthPlots, overloadPlots, ratiosPlot, soakPlots, type Pictures } from "./pictures.ts";
import { readResult } from "./targets.ts";

const FOLDER = join(import.meta.dirname, "../docs/performance");

const pictures: Pictures = {
  ...ratiosPlot(readResult),
  ...growthPlots(readResult("growth")),
  ...soakPlots(readResult("soak")),
  ...overloadPlots(readResult("overload")),
};
await mkdir(FOLDER, { recursive: true });
for (const [name, svg] of Object.entries(pictures)) await writeFile(join(FOLDER, `${name}.svg`), svg);
say(`docs/performance has ${Object.keys(pictures).join(", ")}`);
