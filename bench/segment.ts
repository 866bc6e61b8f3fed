// Messages segmented per second and core, compared with the two packages that the tests compare segmentation with.
// Run: node bench/segment.ts
import { SegmentedMessage } from "sms-segments-calculator";
import { split } from "split-sms";
import { segment } from "../src/channels/sms/segment.ts";
import { median } from "./report.ts";
import { record } from "./record.ts";

const TARGET_PER_SECOND = 500_000;
const ROUNDS = 9;
const ROUND_MS = 60;

// Many different texts: a single text in a loop would favour the branch predictor and the cache.
const TEXTS_PER_KIND = 256;

const contenders = {
  ours: (text: string) => segment(text).segments,
  "split-sms": (text: string) => split(text, { summary: true }).parts.length,
  calculator: (text: string) => new SegmentedMessage(text).segmentsCount,
};

const kinds = {
  "GSM-7, 90 characters": texts(
    "Your parcel leaves the depot today. Track it on https://example.net/t and rate us! ",
    90,
  ),
  "GSM-7, 300 characters": texts("Dear guest, [room 12] is ready from 14:00; the price is 80 € per night. ", 300),
  "UCS-2, 100 characters": texts("आपका ऑर्डर आज भेज दिया गया है। धन्यवाद! ", 100),
  // Worst case for UCS-2: the last character is the first one outside GSM-7.
  "UCS-2 by its last, 100": texts("Thank you for your visit. Your invoice is attached, see you soon. ", 99).map(
    (t) => `${t}…`,
  ),
  "mixed with emoji, 100": texts("Happy birthday 🎉🎂 from all of us, and 20% off today 😀 ", 100),
};

function texts(phrase: string, length: number): string[] {
  return Array.from({ length: TEXTS_PER_KIND }, (_, i) => {
    const text = `${i} ${phrase.repeat(Math.ceil(length / phrase.length))}`.slice(0, length);
    // The round trip creates a flat string, as parsing a request body does. A rope would be flattened inside the first
    // round.
    return Buffer.from(text.toWellFormed()).toString();
  });
}

let segmentsSeen = 0;

function messagesPerSecond(contender: (text: string) => number, samples: string[]): number {
  const started = performance.now();
  let messages = 0;
  let elapsedMs = 0;
  while (elapsedMs < ROUND_MS) {
    // Small batches, so that the slow contender also stops near the end of its round.
    for (let i = 0; i < 32; i++) segmentsSeen += contender(samples[(messages + i) % TEXTS_PER_KIND] ?? "");
    messages += 32;
    elapsedMs = performance.now() - started;
  }
  return (messages * 1000) / elapsedMs;
}

function measure(samples: string[]): Record<keyof typeof contenders, number> {
  const rates = { ours: [] as number[], "split-sms": [] as number[], calculator: [] as number[] };
  // Round 0 is the warm-up. The contenders alternate, so that a slow moment of the machine affects all of them.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ["ours", "split-sms", "calculator"] as const) {
      const rate = messagesPerSecond(contenders[name], samples);
      if (round > 0) rates[name].push(rate);
    }
  }
  return {
    ours: median(rates.ours),
    "split-sms": median(rates["split-sms"]),
    calculator: median(rates.calculator),
  };
}

function row(cells: string[]): string {
  return `${cells.map((cell, i) => (i === 0 ? cell.padEnd(23) : cell.padStart(14))).join("")}\n`;
}

const whole = (value: number) => Math.round(value).toLocaleString("en");

process.stdout.write(`node ${process.version}, median of ${ROUNDS} rounds of ${ROUND_MS} ms, messages/s on one core\n`);
process.stdout.write(row(["", "x split-sms", "x calculator", "ours", "split-sms", "calculator"]));
// One unmeasured run of all kinds: a service sees all of them, so none is timed on code optimised for it alone.
for (const samples of Object.values(kinds)) messagesPerSecond(contenders.ours, samples);
let slowest = Infinity;
const kindsMeasured: object[] = [];
for (const [kind, samples] of Object.entries(kinds)) {
  const rates = measure(samples);
  const ratio = (name: "split-sms" | "calculator") => `${(rates.ours / rates[name]).toFixed(1)}x`;
  slowest = Math.min(slowest, rates.ours);
  kindsMeasured.push({ kind, ...rates });
  process.stdout.write(
    row([
      kind,
      ratio("split-sms"),
      ratio("calculator"),
      whole(rates.ours),
      whole(rates["split-sms"]),
      whole(rates.calculator),
    ]),
  );
}
const verdict = slowest >= TARGET_PER_SECOND ? "met" : "missed";
process.stdout.write(`target ${whole(TARGET_PER_SECOND)}/s ${verdict}: slowest kind ${whole(slowest)}/s\n`);
if (segmentsSeen === 0) throw new Error("nothing was segmented");
await record("segment", { rounds: ROUNDS, results: [{ slowestPerSecond: slowest, kinds: kindsMeasured }] });
