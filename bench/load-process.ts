import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/**
 * Load generator in its own process, so that it shares no event loop with the measured code. One process serves all
 * rounds: a new one would spend its first second on JIT compilation, on the cores of the measured server.
 */
export class LoadProcess<Load extends object, Measured extends { refused: number; firstRefused?: string }> {
  readonly #child: ChildProcess;
  readonly #exited: Promise<never>;

  constructor(file: string) {
    this.#child = fork(join(import.meta.dirname, file));
    this.#exited = once(this.#child, "exit").then(([code, signal]) => {
      throw new Error(`${file} exited with ${code ?? signal}`);
    });
    // `run` reports the error; an exit after the last round is expected.
    this.#exited.catch(() => {});
  }

  /** Runs one load. Throws if any response was unexpected. */
  async measure(load: Load): Promise<Measured> {
    const measured = await this.run(load);
    if (measured.refused > 0)
      throw new Error(`${measured.refused} unexpected responses: ${measured.firstRefused ?? ""}`);
    return measured;
  }

  /** Runs one load, whatever the responses are. */
  async run(load: Load): Promise<Measured> {
    this.#child.send(load);
    const [measured] = (await Promise.race([once(this.#child, "message"), this.#exited])) as [Measured];
    return measured;
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

/** Child side: serves loads until the parent disconnects. A failed load ends the process. */
export function serveLoads(generate: (load: never) => Promise<object>): void {
  process.on("message", (load) => void generate(load as never).then((measured) => process.send?.(measured)));
  process.once("disconnect", () => process.exit());
}
