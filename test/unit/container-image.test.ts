import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
// @ts-expect-error a script without types
import { configOf } from "../../scripts/release/build-image.mjs";
import manifest from "../../package.json" with { type: "json" };

const read = (name: string): string => readFileSync(join(import.meta.dirname, "../..", name), "utf8");

interface ImageConfig {
  User: string;
  WorkingDir: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  ExposedPorts: object;
  Volumes: object;
  Healthcheck: { Test: string[] };
}

const BUILD = { version: "0.1.0", commit: "5f0c1d2", builtAt: "2026-01-01T00:00:00.000Z" };
const { config } = configOf([], BUILD, "amd64") as { config: ImageConfig };

describe("the container image", () => {
  test("runs as a user of its own, with data in a volume", () => {
    expect(config).toMatchObject({ User: "10001:10001", Volumes: { "/var/lib/heliograph": {} } });
  });

  test("is the same by Containerfile and by build:image", () => {
    const lines = read("Containerfile").replaceAll("\\\n", " ").split("\n");
    const valueOf = (instruction: string): string =>
      lines.findLast((line) => line.startsWith(`${instruction} `))?.slice(instruction.length + 1) ?? "";
    expect(valueOf("USER")).toBe(config.User);
    expect(valueOf("WORKDIR")).toBe(config.WorkingDir);
    expect(valueOf("ENV").split(/\s+/)).toEqual(config.Env);
    expect({ [`${valueOf("EXPOSE")}/tcp`]: {} }).toEqual(config.ExposedPorts);
    expect({ [valueOf("VOLUME")]: {} }).toEqual(config.Volumes);
    expect(JSON.parse(valueOf("CMD"))).toEqual(config.Cmd);
    const [, ...command] = config.Entrypoint;
    expect(JSON.parse(valueOf("ENTRYPOINT"))).toEqual(["node", ...command]);
    const [, healthcheck = ""] = valueOf("HEALTHCHECK").split(" CMD ");
    expect(["CMD", config.Entrypoint[0], ...JSON.parse(healthcheck).slice(1)]).toEqual(config.Healthcheck.Test);
  });

  test("has the version of the package in compose.yaml", () => {
    expect(read("compose.yaml")).toContain(`image: heliograph:${manifest.version}\n`);
  });
});
