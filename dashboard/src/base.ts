/** Where the dashboard is served: `/`, or the path that a proxy serves it below. It ends with a slash. */
export const BASE_PATH = new URL(document.baseURI).pathname;

/** An address of this server, whatever path it lies below. */
export const ownUrl = (path: string): string => BASE_PATH + path.replace(/^\//, "");

/** The same with its host, to be copied into a terminal. */
export const wholeUrl = (path: string): string => new URL(ownUrl(path), location.origin).href;

/** The nonce that lets this page, and nothing else, add style elements. */
export const styleNonce = (): string =>
  document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
