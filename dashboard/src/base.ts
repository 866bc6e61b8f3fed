/** The base path of the dashboard: `/`, or the path that a proxy serves it under. It ends with a slash. */
export const BASE_PATH = new URL(document.baseURI).pathname;

/** A URL path on this server, including the base path. */
export const ownUrl = (path: string): string => BASE_PATH + path.replace(/^\//, "");

/** The same as an absolute URL, to be copied into a terminal. */
export const wholeUrl = (path: string): string => new URL(ownUrl(path), location.origin).href;

/** The CSP nonce of this page, required for its style elements. */
export const styleNonce = (): string =>
  document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
