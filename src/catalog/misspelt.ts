const WORD = /^[A-Za-z][\w -]*$/;

/**
 * Names in what was given that mean nothing and look as if they should. In a file that lies in a repository they are
 * refused: whoever wrote them would find out too late that they were ignored.
 */
export const misspelt = (given: object, isKnown: (name: string) => boolean): string[] =>
  Object.keys(given).filter((name) => !isKnown(name) && WORD.test(name));
