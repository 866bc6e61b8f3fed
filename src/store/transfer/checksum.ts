import { hash } from "node:crypto";

/** A value of a row: both engines give the same for the same column. */
export type Value = string | number | null;

/** Rows and checksum of a table. */
export interface TableSum {
  rows: number;
  /** Hexadecimal. */
  checksum: string;
}

const BITS = 64n;

/**
 * Sums the first 64 bits of the SHA-256 of every row. The order of the rows does not matter, because the engines sort texts
 * differently; a missing, repeated or changed row does.
 */
export class TableChecksum {
  #rows = 0;
  #sum = 0n;

  add(row: readonly Value[]): void {
    this.#rows += 1;
    this.#sum += hash("sha256", JSON.stringify(row), "buffer").readBigUInt64BE();
  }

  get result(): TableSum {
    return { rows: this.#rows, checksum: BigInt.asUintN(Number(BITS), this.#sum).toString(16).padStart(16, "0") };
  }
}
