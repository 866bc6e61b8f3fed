import { api, ApiError } from "../../api.ts";
import { t } from "../../i18n/t.ts";

/** The API takes up to 1,000 per request. Smaller batches make progress visible and let the user stop sooner. */
const AT_ONCE = 500;

interface ReadLines {
  /** The first column of every line, without quotes. */
  numbers: readonly string[];
  /** Lines without a digit there, except for the first line, which may be a heading. */
  leftOut: readonly string[];
}

export function readLines(text: string): ReadLines {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const numberIn = (line: string): string => (line.split(/[,;\t]/)[0] ?? "").replaceAll(/["' ]/g, "");
  const hasNumber = (line: string): boolean => /\d/.test(numberIn(line));
  return {
    numbers: [...new Set(lines.filter(hasNumber).map(numberIn))],
    leftOut: lines.filter((line, index) => !hasNumber(line) && (index > 0 || lines.length === 1)),
  };
}

interface Needs {
  tell: (sentence: string, percent?: number) => void;
  signal: AbortSignal;
  /** Called with all invalid numbers so far. */
  refuse: (numbers: readonly string[]) => void;
}

/** Adds numbers in batches. Invalid ones are skipped and reported, so one of them does not stop the import. */
export async function importNumbers({ tell, signal, refuse }: Needs, numbers: readonly string[]): Promise<string> {
  const refused: string[] = [];
  let done = 0;
  for (let at = 0; at < numbers.length; at += AT_ONCE) {
    tell(t("{done} of {numbers} are on the list…", { done, numbers: numbers.length }), (at / numbers.length) * 100);
    const some = numbers.slice(at, at + AT_ONCE);
    const wrong = await addSome(some, signal);
    refused.push(...wrong);
    done += some.length - wrong.length;
    if (wrong.length > 0) refuse([...refused]);
  }
  return t(done === 1 ? "{done} number is on the list." : "{done} numbers are on the list.", { done });
}

/** Adds a batch; if the server rejects some numbers, adds the others. Returns the rejected ones. */
async function addSome(numbers: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  if (numbers.length === 0) return [];
  try {
    await api("POST", "/api/optouts", { body: { numbers, note: "imported" }, signal });
    return [];
  } catch (problem) {
    const places = problem instanceof ApiError ? problem.details.map(({ parameter }) => placeIn(parameter)) : [];
    const wrong = numbers.filter((_, index) => places.includes(index));
    if (wrong.length === 0) throw problem;
    return [
      ...wrong,
      ...(await addSome(
        numbers.filter((number) => !wrong.includes(number)),
        signal,
      )),
    ];
  }
}

const placeIn = (parameter: string): number => Number(/^numbers\[(\d+)\]/.exec(parameter)?.[1] ?? Number.NaN);
