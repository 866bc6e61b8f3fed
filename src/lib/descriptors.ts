import { readdirSync, readFileSync } from "node:fs";

const LIMIT = /^Max open files\s+(\d+|unlimited)/m;

/** Open file descriptors of this process; NaN if none is left to count them with. Needs `/proc`. */
export function countDescriptors(): number {
  try {
    // Listing the folder takes a descriptor of its own.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return Number.NaN;
  }
}

/** Limit of open file descriptors of this process; null where there is no `/proc`. */
export function readDescriptorLimit(): number | null {
  try {
    const [, limit = "unlimited"] = LIMIT.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return null;
  }
}
