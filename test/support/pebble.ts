import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueCertificates } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { startProgramme, type Programme } from "./programme.ts";
import { requestOverHttp1 } from "./secure-client.ts";

export interface Pebble {
  /** Settings of a server that gets its certificate from this authority. */
  env: Record<string, string>;
  /** The root certificate of this run, PEM. */
  root(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts Pebble, the ACME server of Debian's package, with names that all resolve to 127.0.0.1. `httpPort` is the port that challenges are checked at, in place of 80.
 */
export async function startPebble(httpPort: number): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-pebble-"));
  const own = issueCertificates();
  const [dnsPort, dnsManagement, listenPort, management] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const config = {
    listenAddress: `127.0.0.1:${listenPort}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: join(folder, "cert.pem"),
    privateKey: join(folder, "key.pem"),
    httpPort,
    tlsPort: 1,
  };
  await Promise.all([
    writeFile(join(folder, "pebble.json"), JSON.stringify({ pebble: config })),
    writeFile(config.certificate, own.cert),
    writeFile(config.privateKey, own.key),
    writeFile(join(folder, "ca.pem"), own.ca),
  ]);
  const programmes: Programme[] = [];
  const stop = async (): Promise<void> => {
    for (const programme of programmes.toReversed()) await programme.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const answers = (path: string): Promise<boolean> =>
    requestOverHttp1(`https://127.0.0.1:${management}`, { path }, own).then(
      ({ status }) => status === 200,
      () => false,
    );
  try {
    const off = ["http01", "https01", "tlsalpn01"].flatMap((name) => [`-${name}`, ""]);
    const dnsArgs = ["-dns01", `127.0.0.1:${dnsPort}`, "-management", `127.0.0.1:${dnsManagement}`];
    const dns = await startProgramme("pebble-challtestsrv", {
      args: [...dnsArgs, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", ...off],
      folder,
      isReady: () =>
        fetch(`http://127.0.0.1:${dnsManagement}/`).then(
          () => true,
          () => false,
        ),
    });
    programmes.push(dns);
    const pebble = await startProgramme("pebble", {
      args: ["-strict", "-config", join(folder, "pebble.json"), "-dnsserver", `127.0.0.1:${dnsPort}`],
      folder,
      // Three of ten nonces are refused, as a busy authority does with old ones.
      env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "30" },
      isReady: () => answers("/roots/0"),
    });
    programmes.push(pebble);
    return {
      env: {
        HELIOGRAPH_ACME_DIRECTORY_URL: `https://localhost:${listenPort}/dir`,
        HELIOGRAPH_ACME_CA_FILE: join(folder, "ca.pem"),
      },
      root: async () => (await requestOverHttp1(`https://127.0.0.1:${management}`, { path: "/roots/0" }, own)).text,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
