import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";

/** The user's terminal. */
export interface Terminal {
  /** False without a terminal: in a script, or behind a pipe. */
  canAsk: boolean;
  say(line: string): void;
  /** True if the user answered yes; false if `canAsk` is false. */
  confirm(question: string): Promise<boolean>;
  /** The line that the user typed, without showing it; empty if `canAsk` is false. */
  askSecret(question: string): Promise<string>;
  /** The line that the user typed; empty if `canAsk` is false. */
  ask(question: string): Promise<string>;
  /** Overwrites its previous text on a terminal; prints nothing elsewhere. */
  showProgress(text: string): void;
}

type Output = NodeJS.WritableStream;

export const openTerminal = (input: NodeJS.ReadStream, output: Output): Terminal => ({
  canAsk: input.isTTY,
  say: (line) => void output.write(`${line}\n`),
  confirm: async (question) => input.isTTY && /^y(es)?$/i.test(await answerTo(`${question} [y/N] `, input, output)),
  ask: async (question) => (input.isTTY ? answerTo(`${question} `, input, output) : ""),
  askSecret: async (question) => {
    if (!input.isTTY) return "";
    output.write(`${question} `);
    // The editor of the terminal writes what is typed to its output, so that gets another one.
    const typed = await answerTo("", input, new PassThrough().resume());
    output.write("\n");
    return typed;
  },
  showProgress: (text) => {
    if ("isTTY" in output && output.isTTY === true) output.write(`\r\u001b[K${text}`);
  },
});

/** The line that the user typed; empty if the input was closed. */
async function answerTo(question: string, input: NodeJS.ReadStream, output: Output): Promise<string> {
  const asking = createInterface({ input, output, terminal: input.isTTY });
  const closed = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  try {
    return (await Promise.race([asking.question(question), closed])).trim();
  } finally {
    asking.close();
  }
}
