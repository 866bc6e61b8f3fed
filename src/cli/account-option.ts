import { BadSetting } from "../config.ts";

/** The account that a command is about unless it says another: the one that the first start makes. */
export const DEFAULT_ACCOUNT = "default";

export const noSuchAccount = (name: string): BadSetting => new BadSetting(`there is no account ${name}`);
