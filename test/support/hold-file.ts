/** The reader thread of a held server stops while a file with this suffix exists beside the database. */
export const HOLD_SUFFIX = ".hold";
