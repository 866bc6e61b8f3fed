import { isUuid } from "../lib/ids.ts";
import { isObject } from "../lib/json.ts";
import { Type } from "../lib/schema.ts";
import { linkOfMedia } from "../model/media.ts";
import type { Fault } from "../model/problem.ts";

const ID_RULE = (parameter: string): string => `${parameter} is the id of an upload to /v1/media.`;

/** The field for uploaded media, in the place of a URL. */
export const mediaId = (instead: string) =>
  Type.Optional(
    Type.String({
      format: "uuid",
      description: `Uploaded media (\`POST /v1/media\`), in the place of \`${instead}\`.`,
      error: ID_RULE,
      check: (id) => (isUuid(id) ? null : ID_RULE),
    }),
  );

/** A file as requests write it. */
export type WrittenFile<F extends { readonly link: string }> = Omit<F, "link"> & {
  readonly link?: string;
  readonly mediaId?: string;
};

/** A file has either a link or uploaded media. */
export function sourceFaults(file: unknown, at: string, rule: string): Fault[] {
  if (!isObject(file)) return [];
  const { link, mediaId: id } = file;
  if (link === undefined && id === undefined) return [{ parameter: `${at}.link`, message: rule }];
  if (link === undefined || id === undefined) return [];
  return [{ parameter: `${at}.mediaId`, message: "Give either link or mediaId." }];
}

/** The link of a file as messages have it. */
export const linkOf = (
  { link, mediaId: id }: { link?: string | undefined; mediaId?: string | undefined },
  read: (link: string) => string | null,
): string => (id === undefined ? (read(link ?? "") ?? link ?? "") : linkOfMedia(id));
