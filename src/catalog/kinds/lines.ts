import type { Schema } from "../../lib/schema.ts";
import type { RealAdapter, RealLines } from "../../model/catalog.ts";
import type { Channel } from "../../model/message.ts";
import type { Fault } from "../../model/problem.ts";
import type { Mint } from "../record-kind.ts";
import { httpLine } from "./http-line.ts";
import { rbmLine } from "./rbm-line.ts";
import { smppLine } from "./smpp-line.ts";
import { whatsappLine } from "./whatsapp-line.ts";

/** What one kind of line to a real network has of its own. */
export interface LineKind<Line extends object = object> {
  /** What people call what it speaks. */
  title: string;
  /** What it carries; routes of other channels may not lead to it. */
  channels: readonly Channel[];
  /** What people give of it, and what they are shown. */
  given: Schema;
  shown: Schema;
  /** The line that somebody asks for, with the secrets that were given and are not sealed yet; what is wrong goes to `faults`. */
  read(fields: object, known: Line | null, faults: Fault[]): Line;
  /** Seals what was given, and keeps what was not. */
  complete(read: Line, before: Line | null, mint: Mint): Line;
  /** Without its secrets. */
  show(line: Line): object;
}

const LINE_KINDS: { readonly [A in RealAdapter]: LineKind<RealLines[A]> } = {
  smpp: smppLine,
  whatsapp: whatsappLine,
  rbm: rbmLine,
  http: httpLine,
};

export const ADAPTERS = Object.keys(LINE_KINDS) as readonly RealAdapter[];

/** The kind of a line whose adapter is known only by its name. */
export const lineKind = (adapter: RealAdapter): LineKind => LINE_KINDS[adapter];
