/** Variables of chat-app templates that have names, such as `{{first_name}}`. */
const NAMED = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;

/** The names of a text's variables, each once, in the order of their first appearance. */
export const namesIn = (text: string): string[] => [...new Set([...text.matchAll(NAMED)].map(([, name = ""]) => name))];

/** The same text with a number in the place of each name. */
export const withNumbers = (text: string, names: readonly string[]): string =>
  text.replaceAll(NAMED, (place, name: string) => {
    const index = names.indexOf(name);
    return index === -1 ? place : `{{${index + 1}}}`;
  });
