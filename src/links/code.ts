import { randomText } from "../lib/random.ts";

/** Base 58: digits and letters without 0, O, I and l, which readers confuse. */
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const LENGTH = 7;

/**
 * A random code out of 2.2 million million, so that codes cannot be guessed from each other. With ten million links about one in
 * 200,000 new codes is taken, so the store checks each.
 */
export const newCode = (): string => randomText(ALPHABET, LENGTH);

/** Source of the regular expression for codes; the route table uses it too. */
export const CODE_PATTERN = `[1-9A-HJ-NP-Za-km-z]{${LENGTH}}`;

const CODE = new RegExp(`^${CODE_PATTERN}$`);

export const isCode = (value: string): boolean => CODE.test(value);
