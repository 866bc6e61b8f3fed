// Plots the results in bench/results as SVG files in docs/performance. A result that does not exist gets no plot.
// Run: npm run bench:plot
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { print } from "./report.ts";
import {
  campaignPlots,
  growthPlots,
  overloadPlots,
  ratiosPlot,
  readsPlots,
  soakPlots,
  type Plots,
} from "./result-plots.ts";
import { readResult } from "./targets.ts";

const FOLDER = join(import.meta.dirname, "../docs/performance");

const plots: Plots = {
  ...ratiosPlot(readResult),
  ...growthPlots(readResult("growth")),
  ...readsPlots(readResult("reads")),
  ...soakPlots(readResult("soak")),
  ...overloadPlots(readResult("overload")),
  ...campaignPlots(readResult("campaign")),
};
await mkdir(FOLDER, { recursive: true });
for (const [name, svg] of Object.entries(plots)) await writeFile(join(FOLDER, `${name}.svg`), svg);
print(`docs/performance has ${Object.keys(plots).join(", ")}`);
