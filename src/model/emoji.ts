/** One emoji, with or without its variation selector. */
const EMOJI = /^(?:\p{RGI_Emoji}|\p{Extended_Pictographic}\uFE0F?)$/v;

export const isEmoji = (value: string): boolean => EMOJI.test(value);
