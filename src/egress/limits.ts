/**
 * Far more than one customer's address is ever given, since a host may be the address of many: those of them that hang
 * must not make the others wait for a connection. How many requests run at once is decided by who makes them.
 */
export const CONNECTIONS_PER_ORIGIN = 1024;
/** While so many connections are open, those in use are closed behind their request rather than kept for the next. */
export const KEPT_MAX = 2048;
/** However long a server offers to keep a connection. */
export const IDLE_MAX_MS = 60_000;
export const HEADERS_MAX_BYTES = 16_384;
