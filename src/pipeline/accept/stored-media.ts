import { classifyMedia, type MediaKind, type MediaVerdict } from "../../egress/media.ts";
import { mediaIdIn, type StoredMedia } from "../../model/media.ts";
import { Problem } from "../../model/problem.ts";
import type { PolicySubject } from "../policy/check.ts";

/** The uploads of an account that messages may show. */
export interface MediaFinder {
  /** Ready ones by id. Their end is postponed. */
  findUsable(accountId: number, ids: readonly string[]): Promise<ReadonlyMap<string, StoredMedia>>;
}

/** A link of a message, and the field that names it. */
export interface NamedLink {
  link: string;
  parameter: string;
}

/** Finds the stored media behind links. Throws for the first one that is not there; a test message shows test media only. */
export async function findStoredMedia(
  finder: MediaFinder,
  { account, test }: Pick<PolicySubject, "account" | "test">,
  links: readonly NamedLink[],
): Promise<ReadonlyMap<string, StoredMedia>> {
  const named = links.flatMap(({ link, parameter }) => {
    const id = mediaIdIn(link);
    return id === null ? [] : [{ id, link, parameter }];
  });
  if (named.length === 0) return new Map();
  const found = await finder.findUsable(account.id, [...new Set(named.map(({ id }) => id))]);
  const byLink = new Map<string, StoredMedia>();
  for (const { id, link, parameter } of named) {
    const media = found.get(id);
    if (!media || (test && !media.test)) throw unknownMedia(id, parameter);
    byLink.set(link, media);
  }
  return byLink;
}

function unknownMedia(id: string, parameter: string): Problem {
  const message = `There is no uploaded file ${id}: upload it with POST /v1/media, or use one that is there.`;
  return new Problem("MEDIA_NOT_FOUND", { faults: [{ parameter, message }] });
}

export const verdictOf = (kind: MediaKind, { type, size }: StoredMedia): MediaVerdict =>
  classifyMedia(kind, { type, bytes: size });
