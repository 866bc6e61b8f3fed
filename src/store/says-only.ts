import type { Move } from "./store.ts";

/** Whether a move says nothing but these: any other field needs the whole of a move. */
export const saysOnly = (move: Move, fields: ReadonlySet<string>): boolean =>
  Object.keys(move).every((field) => fields.has(field));
