const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** The text of a page without its tags, as Kannel sends it. Linear in the length: a receiver decides about it (ReDoS). */
export const htmlToText = (page: string): string =>
  page
    .replaceAll(/<[^<>]*>/g, "")
    .replaceAll(/&(?:#(\d{1,7})|(\w{2,6}));/g, (whole: string, decimal?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const point = Number(decimal);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : "";
    })
    .replaceAll(/\s+/g, " ")
    .trim();
