import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
// @ts-expect-error a script without types
import { makeRelease, notesOf } from "../../scripts/release/make-release.mjs";
import { readMaterials } from "../support/cyclonedx.ts";
import { canTestWith, inPath } from "../support/programmes.ts";

const BUILD = {
  version: "0.1.0",
  commit: "5f0c1d2e8a9b4c7d6e3f1a2b3c4d5e6f7a8b9c0d",
  builtAt: "2026-01-01T00:00:00.000Z",
};
const FILES = [
  "heliograph-0.1.0.cdx.json",
  "heliograph-0.1.0.tgz",
  "heliograph-chart-0.1.0.tgz",
  `heliograph_0.1.0-1_${process.arch === "arm64" ? "arm64" : "amd64"}.deb`,
];

const run = promisify(execFile);
const canBuild = canTestWith(inPath("dpkg-deb") && inPath("strip"), "dpkg-deb and strip (binutils)");

describe.runIf(canBuild)("a release", () => {
  let folder: string;
  let sums: string;
  /** Without the image, which takes minutes: its own test compares two builds. */
  const makeIn = (name: string): Promise<string> =>
    makeRelease(join(folder, name), BUILD, { withImage: false, compression: "none" }) as Promise<string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-release-"));
    sums = await makeIn("first");
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const read = (file: string): Promise<Buffer> => readFile(join(folder, "first", file));

  test("has packages, chart, bill of materials, notes and the checksum of each file", async () => {
    expect(await readdir(join(folder, "first"))).toEqual(["NOTES.md", "SHA256SUMS", ...FILES].toSorted());
    expect(String(await read("SHA256SUMS"))).toBe(sums);
    const expected = await Promise.all(FILES.map(async (file) => `${hash("sha256", await read(file))}  ${file}`));
    expect(sums.trim().split("\n").toSorted()).toEqual(expected.toSorted());
    await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: join(folder, "first") });
  });

  test("has the same bytes when it is made again", async () => {
    expect(await makeIn("second")).toBe(sums);
  });

  test("has a bill of materials that follows the schema of CycloneDX", async () => {
    expect(readMaterials(String(await read("heliograph-0.1.0.cdx.json"))).length).toBeGreaterThan(20);
  });

  test("has the Helm chart with its version, in the folder that Helm expects", async () => {
    const unpacked = join(folder, "chart");
    await mkdir(unpacked);
    await run("tar", ["-xzf", join(folder, "first/heliograph-chart-0.1.0.tgz"), "-C", unpacked]);
    expect(await readFile(join(unpacked, "heliograph/Chart.yaml"), "utf8")).toMatch(
      /^version: 0\.1\.0\nappVersion: "0\.1\.0"$/m,
    );
    expect(await readdir(join(unpacked, "heliograph"))).toEqual(["Chart.yaml", "templates", "values.yaml"]);
  });

  test("has the notes of its version, with a heading that does not call it unreleased", async () => {
    expect(String(await read("NOTES.md"))).toMatch(/^## 0\.1\.0\n\nThe first release\.\n/);
  });

  test("fails, and writes nothing, if the image cannot be built and is not left out by an option", async () => {
    vi.stubEnv("PATH", folder);
    await expect(makeRelease(join(folder, "third"), BUILD)).rejects.toThrow("add --without-image");
    expect(await readdir(folder)).not.toContain("third");
  });
});

describe("the notes of a release", () => {
  const changelog = "# Changelog\n\n## 0.2.0 (unreleased)\n\nLater (unreleased).\n\n## 0.1.0\n\nFirst.\n";

  test.each([
    ["0.2.0", "## 0.2.0\n\nLater (unreleased).\n\n"],
    ["0.1.0", "## 0.1.0\n\nFirst.\n"],
  ])("are the section of %s in the changelog", (version, notes) => {
    expect(notesOf(changelog, version)).toBe(notes);
  });

  test("are missing for a version without a section, which ends the release", () => {
    expect(() => notesOf(changelog, "0.3.0") as string).toThrow('no section "## 0.3.0"');
  });
});
