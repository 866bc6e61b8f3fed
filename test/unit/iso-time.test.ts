import { describe, expect, test } from "vitest";
import { parseIsoTime } from "../../src/lib/iso-time.ts";

describe("an ISO 8601 time", () => {
  test.each([
    "2026-02-31T10:00:00Z",
    "2026-02-29",
    "2026-04-31T10:00:00+05:30",
    "2026-13-01",
    "2026-01-00",
    "then",
    "",
  ])("%s is none, because there is no such day", (written) => {
    expect(parseIsoTime(written)).toBeNaN();
  });

  test.each([
    ["2026-02-28T10:00:00Z", Date.UTC(2026, 1, 28, 10)],
    ["2028-02-29", Date.UTC(2028, 1, 29)],
    ["2026-12-31T23:30:00+05:30", Date.UTC(2026, 11, 31, 18)],
  ])("%s is read", (written, time) => {
    expect(parseIsoTime(written)).toBe(time);
  });
});
