import { spawn } from "node:child_process";

/** Three signs of life fit into the time that systemd waits for one. */
const SIGNS_PER_LIMIT = 3;

interface SystemdVariables {
  NOTIFY_SOCKET?: string | undefined;
  WATCHDOG_USEC?: string | undefined;
}

/**
 * Reports the state of the process to systemd (sd_notify): readiness, the stop, and with a watchdog a periodic sign of life,
 * which ends when the event loop hangs. Node has no datagram sockets for Unix paths, so `systemd-notify` sends the reports.
 */
export class ServiceManager {
  readonly #isPresent: boolean;
  readonly #watchdogMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ NOTIFY_SOCKET: socket = "", WATCHDOG_USEC: watchdogMicros = "" }: SystemdVariables) {
    this.#isPresent = socket !== "";
    this.#watchdogMs = /^\d+$/.test(watchdogMicros) ? Number(watchdogMicros) / 1000 : 0;
  }

  reportReady(): void {
    this.#report("READY=1");
    if (!this.#isPresent || this.#watchdogMs === 0) return;
    this.#timer = setInterval(() => this.#report("WATCHDOG=1"), this.#watchdogMs / SIGNS_PER_LIMIT);
    this.#timer.unref();
  }

  /** The signs of life go on, because a drain may take longer than the watchdog waits. */
  reportStopping(): void {
    this.#report("STOPPING=1");
  }

  #report(state: string): void {
    if (!this.#isPresent) return;
    try {
      const child = spawn("systemd-notify", [state], { stdio: "ignore" });
      child.on("error", () => {});
      child.unref();
    } catch {
      // No memory for a process, or no such program: the manager's own time limits apply.
    }
  }
}
