const format = new Intl.NumberFormat(undefined, { notation: "compact" });

/** A count as short as the side of a chart has room for. */
export const short = (count: number): string => format.format(count);
