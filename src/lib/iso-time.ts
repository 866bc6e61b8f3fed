const DATE = /^(\d{4})-(\d{2})-(\d{2})/;

/** A time with its zone: without one, it means another moment on every machine. */
export const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Epoch milliseconds of an ISO 8601 time, or NaN. `Date.parse` reads 31 February as 3 March; here it is no time. */
export function parseIsoTime(written: string): number {
  const [, year = "", month = "", day = ""] = DATE.exec(written) ?? [];
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) > days ? Number.NaN : Date.parse(written);
}
