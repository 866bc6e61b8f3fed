import { resolve } from "node:path";
import { BadSetting, type Config } from "../config.ts";
import { isBucketUrl, readBucketUrl } from "../object-storage/bucket-url.ts";
import type { BackupBucket } from "./bucket.ts";
import type { Destination } from "./destination.ts";

/** The place that an operator names: a folder, or a place in a bucket, with the settings of object storage. */
export function readDestination(config: Config, written: string, name: string): Destination {
  if (isBucketUrl(written))
    return { kind: "bucket", bucket: readBucket(config, written, name), dataDir: config.dataDir };
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(written)) throw new BadSetting(`${name} is a folder, or s3://bucket/prefix`);
  return { kind: "folder", folder: resolve(written) };
}

export function readBucket(config: Config, written: string, name: string): BackupBucket {
  const place = readBucketUrl(written);
  if (place === null) throw new BadSetting(`${name} must be s3://bucket/prefix, with the name of a bucket`);
  const { s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey, s3SessionToken } = config;
  if (s3AccessKeyId === null || s3SecretAccessKey === null)
    throw new BadSetting(
      `${name} is in a bucket: set HELIOGRAPH_S3_ACCESS_KEY_ID and HELIOGRAPH_S3_SECRET_ACCESS_KEY, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  return {
    prefix: place.prefix,
    s3: {
      endpoint: s3Endpoint,
      region: s3Region,
      bucket: place.bucket,
      accessKeyId: s3AccessKeyId,
      secretAccessKey: s3SecretAccessKey,
      sessionToken: s3SessionToken,
    },
  };
}
