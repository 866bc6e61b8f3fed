import type { Query } from "../../api.ts";
import type { Filters } from "./filters.tsx";

/** Days on the reader's own calendar, as the moments that the API asks for. */
const startOf = (day: string): number => new Date(`${day}T00:00:00`).getTime();
const dayAfter = (day: string): number => {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + 1);
  return date.getTime();
};

/** The filters as the API takes them. */
export const queryOf = ({ from, to, ...rest }: Filters): Query => ({
  ...rest,
  ...(from === "" ? {} : { from: startOf(from) }),
  ...(to === "" ? {} : { to: dayAfter(to) }),
});
