import { BadSpreadsheet } from "./bad-spreadsheet.ts";
import type { XmlHandler } from "./xml.ts";

const BYTES_MAX = 67_108_864;
const FIRST_BYTES = 65_536;

/** The texts of a workbook, which its cells name by number. They are kept as bytes: objects would take three times the memory. */
export class SharedStrings {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #ends = new Uint32Array(1024);
  #count = 0;
  #used = 0;

  add(text: string): void {
    const length = Buffer.byteLength(text);
    const used = this.#used + length;
    if (used > BYTES_MAX || this.#count > BYTES_MAX / 4) throw new BadSpreadsheet("SPREADSHEET_TOO_LARGE");
    if (used > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(used, Math.min(BYTES_MAX, this.#bytes.length * 2)));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    if (this.#count === this.#ends.length) {
      const more = new Uint32Array(this.#ends.length * 2);
      more.set(this.#ends);
      this.#ends = more;
    }
    this.#bytes.write(text, this.#used);
    this.#used = used;
    this.#ends[this.#count] = used;
    this.#count += 1;
  }

  /** Empty for a number that no text has. */
  get(index: number): string {
    if (!(index >= 0) || index >= this.#count) return "";
    return this.#bytes.toString("utf8", index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }
}

/** Longer than a cell may be. */
export const TEXT_MAX = 40_000;

/** Reads `sharedStrings.xml`. A text may consist of runs with formats; phonetic guides are left out. */
export function sharedStringsHandler(strings: SharedStrings): XmlHandler {
  let text = "";
  let isText = false;
  let isGuide = false;
  return {
    open(name) {
      if (name === "si") text = "";
      else if (name === "rPh") isGuide = true;
      else if (name === "t") isText = !isGuide;
    },
    close(name) {
      if (name === "t") isText = false;
      else if (name === "rPh") isGuide = false;
      else if (name === "si") strings.add(text);
    },
    text(piece) {
      if (isText && text.length < TEXT_MAX) text += piece;
    },
  };
}
