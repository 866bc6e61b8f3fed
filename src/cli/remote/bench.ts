import { randomUUID } from "node:crypto";
import { BadSetting, type Config } from "../../config.ts";
import { progressBar } from "../progress-bar.ts";
import type { Terminal } from "../terminal.ts";
import { chooseServer, type ServerOptions } from "./server.ts";

interface BenchOptions extends ServerOptions {
  messages?: string | undefined;
  concurrency?: string | undefined;
}

const MESSAGES_MAX = 1_000_000;
const CONCURRENCY_MAX = 1000;
const PROGRESS_EVERY = 200;
/** Example numbers, which no phone has. */
const recipientOf = (index: number): string => `1555010${String(index % 10_000).padStart(4, "0")}`;

/** `bench`: sends messages with a test key, whose messages go to the simulator, and measures the answers. */
export async function bench(
  config: Config,
  _words: readonly string[],
  { messages = "1000", concurrency = "32", ...options }: BenchOptions,
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  if (!server.key.startsWith("hg_test_"))
    throw new BadSetting("bench needs a test key (hg_test_…), whose messages go to the simulator and cost nothing");
  const wanted = readCount("--messages", messages, MESSAGES_MAX);
  const callers = readCount("--concurrency", concurrency, CONCURRENCY_MAX);
  const latencies: number[] = [];
  let next = 0;
  let failed = 0;
  let reason: unknown = null;
  const startedAt = performance.now();
  const call = async (): Promise<void> => {
    while (next < wanted) {
      const index = next;
      next += 1;
      const body = { sender: "HELIOG", to: recipientOf(index), text: "Benchmark", type: "TRANS" };
      const askedAt = performance.now();
      try {
        await server.post("/v1/sms", body, { "idempotency-key": randomUUID() });
        latencies.push(performance.now() - askedAt);
      } catch (error) {
        failed += 1;
        reason ??= error;
        if (failed > callers) throw error;
      }
      if (index % PROGRESS_EVERY === 0)
        terminal.showProgress(progressBar(index, wanted, `${index} of ${wanted} messages`));
    }
  };
  await Promise.all(Array.from({ length: Math.min(callers, wanted) }, call));
  terminal.showProgress("");
  const seconds = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((latencies[Math.floor(share * (latencies.length - 1))] ?? 0) * 10) / 10;
  const result = {
    accepted: latencies.length,
    failed,
    seconds: Math.round(seconds * 100) / 100,
    perSecond: Math.round(latencies.length / seconds),
    milliseconds: { p50: at(0.5), p99: at(0.99), max: at(1) },
  };
  if (failed > 0) process.exitCode = 1;
  if (options.json) return JSON.stringify(result, null, 2);
  const { p50, p99, max } = result.milliseconds;
  return [
    `${result.accepted} messages accepted in ${result.seconds} s: ${result.perSecond} per second with ${callers} callers`,
    `an answer took ${p50} ms (half), ${p99} ms (99 %), ${max} ms (longest)`,
    ...(failed > 0 ? [`${failed} failed: ${reason instanceof Error ? reason.message : "unknown"}`] : []),
  ].join("\n");
}

function readCount(option: string, written: string, max: number): number {
  const count = Number(written);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new BadSetting(`${option} is a whole number from 1 to ${max}`);
}
