import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import type { Audience, AudienceFailure } from "../../model/audience.ts";
import type { AudienceStore } from "../../store/audiences.ts";
import { BadSpreadsheet } from "./bad-spreadsheet.ts";
import { convertSheet, UnknownSheet, type ConvertedSheet } from "./convert.ts";
import type { ByteSource } from "./zip.ts";

interface ConversionsDeps {
  store: Pick<AudienceStore, "findAudienceBytes">;
  clock: Clock;
  /** The largest CSV that is held in memory. */
  bytesMax: number;
}

/** A converted sheet, or why it cannot be used. */
export type Conversion = ConvertedSheet | { failure: AudienceFailure; sheets: readonly string[] };

interface Running {
  key: string;
  steps: AsyncGenerator<undefined, ConvertedSheet>;
  result: Conversion | null;
  usedAt: number;
}

/** An unused conversion is dropped after this time: its audience is with another process, or deleted. */
const UNUSED_MS = 30_000;

/**
 * Converts spreadsheets in steps, one at a time: its CSV is held in memory until the check has ended. After a crash another
 * process converts the file again and gets the same bytes.
 */
export class Conversions {
  readonly #deps: ConversionsDeps;
  #running: Running | null = null;

  constructor(deps: ConversionsDeps) {
    this.#deps = deps;
  }

  /** Converts on while `isInTime`. Null if it takes longer, or if another spreadsheet has its turn. */
  async advance(audience: Audience, isInTime: () => boolean): Promise<Conversion | null> {
    const running = await this.#open(audience);
    if (!running) return null;
    running.usedAt = this.#deps.clock.monotonic();
    try {
      while (!running.result && isInTime()) {
        const { done, value } = await running.steps.next();
        if (done) running.result = value;
        // Sends go ahead of a long conversion.
        await setImmediate();
      }
    } catch (error) {
      if (!(error instanceof BadSpreadsheet)) {
        this.#running = null;
        throw error;
      }
      running.result = { failure: error.failure, sheets: error instanceof UnknownSheet ? error.sheets : [] };
    }
    return running.result;
  }

  /** Frees the memory of an audience whose check has ended. */
  async end(audience: Audience): Promise<void> {
    if (this.#running?.key !== keyOf(audience)) return;
    const { steps } = this.#running;
    this.#running = null;
    await steps.return({ sheets: [], csv: [] });
  }

  async #open(audience: Audience): Promise<Running | null> {
    const key = keyOf(audience);
    const { store, clock, bytesMax } = this.#deps;
    const current = this.#running;
    if (current?.key === key) return current;
    if (current && clock.monotonic() - current.usedAt < UNUSED_MS) return null;
    await current?.steps.return({ sheets: [], csv: [] });
    const steps = convertSheet(sourceOf(store, audience), { sheet: audience.sheet, bytesMax });
    this.#running = { key, steps, result: null, usedAt: clock.monotonic() };
    return this.#running;
  }
}

const keyOf = ({ accountId, id, sheet }: Audience): string => JSON.stringify([accountId, id, sheet]);

/** The uploaded file. It is stored in pieces, of which the last that was read stays in memory. */
function sourceOf(store: Pick<AudienceStore, "findAudienceBytes">, audience: Audience): ByteSource {
  let piece: Buffer = Buffer.alloc(0);
  let start = 0;
  return {
    size: audience.size,
    async read(offset, length) {
      const parts: Buffer[] = [];
      for (let at = offset; at < Math.min(offset + length, audience.size);) {
        if (at < start || at >= start + piece.length) {
          piece = (await store.findAudienceBytes(audience, at)) ?? Buffer.alloc(0);
          start = at;
        }
        if (piece.length === 0) break;
        const part = piece.subarray(at - start, offset + length - start);
        parts.push(part);
        at += part.length;
      }
      return Buffer.concat(parts);
    },
  };
}
