import { createInterface } from "node:readline/promises";

/** Whoever started the command. */
export interface Terminal {
  /** False where nobody is there to answer: in a script, or behind a pipe. */
  canAsk: boolean;
  say(line: string): void;
  /** Whether somebody said yes; nobody has where nobody can be asked. */
  confirm(question: string): Promise<boolean>;
}

type Output = NodeJS.WritableStream;

export const openTerminal = (input: NodeJS.ReadStream, output: Output): Terminal => ({
  canAsk: input.isTTY,
  say: (line) => void output.write(`${line}\n`),
  confirm: async (question) => input.isTTY && /^y(es)?$/i.test(await answerTo(question, input, output)),
});

/** What was typed; nothing when the line was closed instead. */
async function answerTo(question: string, input: NodeJS.ReadStream, output: Output): Promise<string> {
  const asking = createInterface({ input, output });
  const closed = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  try {
    return (await Promise.race([asking.question(`${question} [y/N] `), closed])).trim();
  } finally {
    asking.close();
  }
}
