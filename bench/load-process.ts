import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/**
 * A load as a process of its own, so that it never shares an event loop with what is measured. It lives from the first turn
 * to the last: a new one would spend the first second of each turn on compiling itself, on the cores of whatever it measures.
 */
export class LoadProcess<Load extends object, Measured extends { refused: number }> {
  readonly #child: ChildProcess;
  readonly #gone: Promise<never>;

  constructor(file: string) {
    this.#child = fork(join(import.meta.dirname, file));
    this.#gone = once(this.#child, "exit").then(([code, signal]) => {
      throw new Error(`${file} has ended with ${code ?? signal}`);
    });
    // Whoever waits for a turn hears of it; after the last turn it is as it should be.
    this.#gone.catch(() => {});
  }

  /** One turn, of which nothing may be refused. */
  async measure(load: Load): Promise<Measured> {
    const measured = await this.run(load);
    if (measured.refused > 0) throw new Error(`${measured.refused} answers were not as expected`);
    return measured;
  }

  /** One turn, whatever was answered. */
  async run(load: Load): Promise<Measured> {
    this.#child.send(load);
    const [measured] = (await Promise.race([once(this.#child, "message"), this.#gone])) as [Measured];
    return measured;
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

/** The other side: takes one load after the other until nobody is there to give any. One that fails takes its process with it. */
export function serveLoads(generate: (load: never) => Promise<object>): void {
  process.on("message", (load) => void generate(load as never).then((measured) => process.send?.(measured)));
  process.once("disconnect", () => process.exit());
}
