import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";

describe("a server that a service manager starts", () => {
  let folder: string;
  let server: ServerProcess | undefined;
  const reportsOf = (): Promise<string> => readFile(join(folder, "reports"), "utf8").catch(() => "");
  /** A `systemd-notify` that writes down what it is asked to report. */
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "heliograph-notify-"));
    await writeFile(join(folder, "systemd-notify"), `#!/bin/sh\necho "$1" >> ${folder}/reports\n`);
    await chmod(join(folder, "systemd-notify"), 0o755);
  });
  afterEach(async () => {
    await server?.cleanup();
    await rm(folder, { recursive: true, force: true });
  });
  const start = async (env: Record<string, string>): Promise<ServerProcess> => {
    server = await startServer({ env: { PATH: `${folder}${delimiter}${process.env["PATH"]}`, ...env } });
    return server;
  };

  test("reports that it is ready, then that it stops", async () => {
    const started = await start({ NOTIFY_SOCKET: "/run/systemd/notify" });
    await eventually(reportsOf, (reports) => reports !== "");
    await started.kill("SIGTERM");
    expect(await eventually(reportsOf, (reports) => reports.includes("STOPPING"))).toBe("READY=1\nSTOPPING=1\n");
  });

  test("gives signs of life to a watchdog", async () => {
    await start({ NOTIFY_SOCKET: "/run/systemd/notify", WATCHDOG_USEC: "300000" });
    const reports = await eventually(reportsOf, (seen) => seen.split("WATCHDOG=1").length > 3);
    expect(reports).toContain("READY=1\n");
  });

  test("reports nothing without a service manager", async () => {
    const started = await start({});
    await started.kill("SIGTERM");
    expect(await reportsOf()).toBe("");
  });

  test("writes the first secrets to a file of its user, and prints none", async () => {
    const file = join(folder, "welcome.txt");
    const started = await start({
      HELIOGRAPH_WELCOME_FILE: file,
      HELIOGRAPH_API_KEY: "",
      HELIOGRAPH_ADMIN_PASSWORD: "",
    });
    const secrets = await readFile(file, "utf8");
    expect(secrets).toMatch(/Password {3}\S{10}/);
    expect(secrets).toMatch(/hg_live_\w{20}/);
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe("600");
    expect(started.output()).not.toContain("hg_live_");
    expect(started.output()).toContain(file);
  });

  test("keeps an older file of secrets, and writes a second one", async () => {
    const file = join(folder, "welcome.txt");
    await writeFile(file, "older secrets");
    const started = await start({ HELIOGRAPH_WELCOME_FILE: file, HELIOGRAPH_API_KEY: "" });
    expect(await readFile(`${file}.2`, "utf8")).toMatch(/hg_live_\w{20}/);
    expect(await readFile(file, "utf8")).toBe("older secrets");
    expect(started.output()).not.toContain("hg_live_");
  });

  test("prints the first secrets if no file can take them, rather than losing them", async () => {
    const started = await start({ HELIOGRAPH_WELCOME_FILE: join(folder, "none/welcome.txt"), HELIOGRAPH_API_KEY: "" });
    expect(started.output()).toMatch(/hg_live_\w{20}/);
  });
});
