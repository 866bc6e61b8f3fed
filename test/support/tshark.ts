import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pcapOf, type Captured } from "./pcap.ts";

const run = promisify(execFile);
const SMPP_PORT = 2775;

/** Output of Wireshark's SMPP dissector, one line per packet. */
export async function tshark(captured: readonly Captured[], ...args: string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "smpp-capture-"));
  try {
    const file = join(folder, "capture.pcap");
    await writeFile(file, pcapOf(SMPP_PORT, captured));
    const options = { maxBuffer: 256 * 1_048_576, env: { ...process.env, TZ: "UTC" } };
    const { stdout } = await run("tshark", ["-r", file, "-d", `tcp.port==${SMPP_PORT},smpp`, ...args], options);
    return stdout.split("\n").filter((line) => line !== "");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Values of these fields per packet; repeated fields in order. */
export async function tsharkFields(
  captured: readonly Captured[],
  fields: readonly string[],
): Promise<Record<string, string[]>[]> {
  const separators = ["-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=|"];
  const lines = await tshark(captured, "-T", "fields", ...separators, ...fields.flatMap((field) => ["-e", field]));
  return lines.map((line) => {
    const values = line.split("\t").map((cell) => (cell === "" ? [] : cell.split("|")));
    return Object.fromEntries(fields.map((field, index) => [field, values[index] ?? []]));
  });
}

/** Packets that the dissector cannot parse or reports as malformed. */
export const tsharkFaults = (captured: readonly Captured[]): Promise<string[]> =>
  tshark(captured, "-Y", '_ws.malformed || _ws.expert.severity == "Error" || smpp.message_payload.duplicate');
