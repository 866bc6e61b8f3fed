import type { Query } from "../../api.ts";
import type { Filters } from "./filters.tsx";

/** Converts days of the browser's time zone to the timestamps of the API. */
const startOf = (day: string): number => new Date(`${day}T00:00:00`).getTime();
const dayAfter = (day: string): number => {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + 1);
  return date.getTime();
};

/** A number with a plus, or with more digits than a national number, is complete. Others match the end of a number. */
function numberOf(typed: string): Query {
  if (typed === "") return {};
  const digits = typed.replaceAll(/\D/g, "");
  return typed.startsWith("+") || digits.length >= WHOLE_DIGITS ? { recipient: typed } : { recipientEnding: typed };
}

const WHOLE_DIGITS = 11;

/** The filters as query parameters of the API. */
export const queryOf = ({ recipient, from, to, ...rest }: Filters): Query => ({
  ...rest,
  ...numberOf(recipient),
  ...(from === "" ? {} : { from: startOf(from) }),
  ...(to === "" ? {} : { to: dayAfter(to) }),
});
