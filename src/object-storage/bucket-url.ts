/** A place in a bucket: `s3://bucket/prefix`. */
export interface BucketUrl {
  bucket: string;
  /** Ends with a slash, or is empty for the whole bucket. */
  prefix: string;
}

/** A bucket's name is a label of host names too. */
const BUCKET = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
/** Characters that every storage and every tool takes as they are. */
const SEGMENT = /^(?!\.{1,2}$)[\w.!'()*-]+$/;
const PREFIX_MAX = 500;

export const isBucketUrl = (written: string): boolean => written.startsWith("s3://");

/** Null if it is no such URL. Empty segments are refused, because storages differ about them. */
export function readBucketUrl(written: string): BucketUrl | null {
  if (!isBucketUrl(written)) return null;
  const [bucket = "", ...segments] = written.slice("s3://".length).replace(/\/$/, "").split("/");
  const prefix = segments.map((segment) => `${segment}/`).join("");
  const isValid =
    BUCKET.test(bucket) &&
    !bucket.includes("..") &&
    segments.every((segment) => SEGMENT.test(segment)) &&
    prefix.length <= PREFIX_MAX;
  return isValid ? { bucket, prefix } : null;
}
