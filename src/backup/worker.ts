import { parentPort, workerData } from "node:worker_threads";
import { pruneAt, writeTo } from "./destination.ts";
import type { ScheduledBackup } from "./schedule.ts";

/** The thread of a scheduled backup: checking a large file takes minutes and would block the event loop. */
const { destination, keep, ...request } = workerData as ScheduledBackup;
const { path, manifest } = await writeTo(destination, request);
// A backup that was written counts as such, also if the old ones could not be deleted.
const removed = await pruneAt(destination, keep).catch((error: unknown) => String(error));
parentPort?.postMessage({
  path,
  at: Date.parse(manifest.createdAt),
  bytes: manifest.database?.bytes ?? 0,
  ...(typeof removed === "string" ? { removed: [], pruneError: removed } : { removed }),
});
