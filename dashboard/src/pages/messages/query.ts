import type { Query } from "../../api.ts";
import type { Filters } from "./filters.tsx";

/** Days on the reader's own calendar, as the moments that the API asks for. */
const startOf = (day: string): number => new Date(`${day}T00:00:00`).getTime();
const dayAfter = (day: string): number => {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + 1);
  return date.getTime();
};

/** With a plus, or with more digits than any national number, it is a whole number. Otherwise it may be the end of one. */
function numberOf(typed: string): Query {
  if (typed === "") return {};
  const digits = typed.replaceAll(/\D/g, "");
  return typed.startsWith("+") || digits.length >= WHOLE_DIGITS ? { recipient: typed } : { recipientEnding: typed };
}

const WHOLE_DIGITS = 11;

/** The filters as the API takes them. */
export const queryOf = ({ recipient, from, to, ...rest }: Filters): Query => ({
  ...rest,
  ...numberOf(recipient),
  ...(from === "" ? {} : { from: startOf(from) }),
  ...(to === "" ? {} : { to: dayAfter(to) }),
});
