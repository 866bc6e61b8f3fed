/** The number of values that a text takes: its count of `{#var#}`, or its highest number in braces. */
export function variablesIn(text: string): number {
  const inOrder = text.match(/\{#var#\}/g)?.length ?? 0;
  const byNumber = [...text.matchAll(/\{\{(\d{1,3})\}\}/g)].map(([, number]) => Number(number));
  return Math.max(inOrder, ...byNumber);
}

/** A text of the chat app with a number in the place of each name. */
export const withNumbers = (text: string): string =>
  namesIn(text).reduce(
    (shown, name, index) => shown.replaceAll(new RegExp(String.raw`\{\{\s*${name}\s*\}\}`, "g"), `{{${index + 1}}}`),
    text,
  );

/** The names of variables such as `{{first_name}}`, each once, in the order of their first appearance. */
const namesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g)].map(([, name = ""]) => name)),
];
