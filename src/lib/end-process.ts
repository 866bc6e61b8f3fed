const running = new Set<Promise<unknown>>();

/** Registers work of a thread that nothing can interrupt, such as a statement of SQLite. */
export function delaysExit(work: Promise<unknown>): void {
  running.add(work);
  const end = (): void => void running.delete(work);
  work.then(end, end);
}

/**
 * Ends the process at once. `process.exit` waits for every thread, so for the whole duration of a running statement. Replacing
 * the process by a short one ends the threads and keeps the exit code; a signal would not, and the first process of a container
 * ignores its own signals.
 */
export function endProcess(code: number): never {
  if (running.size > 0 && process.execve) {
    process.execve(process.execPath, [process.execPath, "--eval", `process.exit(${code})`], {});
  }
  process.exit(code);
}
