import { heldProblem } from "../../model/hold.ts";
import { Problem } from "../../model/problem.ts";
import type { Warning } from "../../model/warning.ts";

const HELD =
  "The service was restored from a backup. It accepts and sends nothing until its operator has decided about the messages of the backup, with the command heliograph resume.";

const MB = 1_000_000;
const RETRY_SECONDS = 60;

/** Refuses every send while the service is held, or while the disk is nearly full. A send reads one field. */
export class SendGate {
  /** The response to sends; null while they are accepted. */
  refusal: Problem | null = null;
  /** Free space of the disk while it is nearly full. */
  #freeBytes: number | null = null;

  get isHeld(): boolean {
    return this.refusal?.code === "SERVICE_HELD";
  }

  get isDiskFull(): boolean {
    return this.#freeBytes !== null;
  }

  hold(): void {
    this.refusal = heldProblem();
  }

  setDiskFull(freeBytes: number | null): void {
    this.#freeBytes = freeBytes;
    if (this.isHeld) return;
    this.refusal = freeBytes === null ? null : new Problem("STORAGE_FULL", { retryAfterSeconds: RETRY_SECONDS });
  }

  get warnings(): Warning[] {
    const warnings: Warning[] = this.isHeld ? [{ code: "SERVICE_HELD", message: HELD }] : [];
    if (this.#freeBytes !== null)
      warnings.push({
        code: "STORAGE_FULL",
        message: `The disk of the database has ${Math.floor(this.#freeBytes / MB)} MB of free space, so sends are refused. Free space on it, shorten the retention of messages, or lower HELIOGRAPH_DISK_FREE_MIN_MB.`,
      });
    return warnings;
  }
}
