const PREFIX = /^[1-9][0-9]{0,14}$/;

/** Whether numbers can begin with it: digits of a country and an area, without a plus. */
export const isPrefix = (value: string): boolean => PREFIX.test(value);
