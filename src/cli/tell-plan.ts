import { changesNothing, type FieldChange, type NamedRecord, type Plan } from "../catalog/plan-set-up.ts";

/** A plan in plain words: + is made, ~ is changed, - is removed. */
export function tellPlan(plan: Plan): string {
  const { settings, made, changed, removed, same } = plan;
  if (changesNothing(plan)) return `Nothing to change: ${same.length} records are as the file has them.`;
  return [
    ...made.map((record) => `+ ${nameOf(record)}`),
    ...changed.flatMap((record) => [`~ ${nameOf(record)}`, ...record.fields.map(lineOf)]),
    ...removed.map((record) => `- ${nameOf(record)}`),
    ...(settings.length > 0 ? ["~ settings", ...settings.map(lineOf)] : []),
    "",
    `${made.length} to make, ${changed.length} to change, ${removed.length} to remove, ${settings.length} settings to change; ${same.length} stay as they are.`,
  ].join("\n");
}

const nameOf = ({ part, channel, name }: NamedRecord): string =>
  [part, ...(channel ? [channel] : []), JSON.stringify(name)].join(" ");

const lineOf = ({ field, from, to }: FieldChange): string =>
  `    ${field}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`;
