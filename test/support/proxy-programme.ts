import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Certificates } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { startProgramme, type Programme } from "./programme.ts";
import { requestOverHttp1 } from "./secure-client.ts";

const DEPLOY = join(import.meta.dirname, "../../deploy");

/** A proxy in front of two nodes. */
export interface ProxyKind {
  name: "nginx" | "Caddy" | "HAProxy" | "HAProxy in TCP mode";
  programme: "nginx" | "caddy" | "haproxy";
  /** The nodes speak TLS themselves, and learn the client's address from the PROXY protocol. */
  passesTls: boolean;
}

export const PROXIES: readonly ProxyKind[] = [
  { name: "nginx", programme: "nginx", passesTls: false },
  { name: "Caddy", programme: "caddy", passesTls: false },
  { name: "HAProxy", programme: "haproxy", passesTls: false },
  { name: "HAProxy in TCP mode", programme: "haproxy", passesTls: true },
];

interface Surroundings {
  folder: string;
  nodePorts: readonly [number, number];
  certificates: Certificates;
}

export interface RunningProxy {
  url: string;
  /** Port that redirects browsers; null if the proxy has none. */
  plainPort: number | null;
  /** The step of an operator whose proxy has no health checks, before a node stops; nothing for the others. */
  takeOut(nodePort: number): Promise<void>;
  stop: Programme["stop"];
}

/** Starts a proxy with the configuration of `deploy/`, in which only addresses, ports and files are exchanged. */
export async function startProxy({ name }: ProxyKind, surroundings: Surroundings): Promise<RunningProxy> {
  const { folder, certificates } = surroundings;
  const [port, plainPort] = [await freePort(), await freePort()];
  const url = `https://localhost:${port}`;
  await Promise.all([
    writeFile(join(folder, "cert.pem"), certificates.cert),
    writeFile(join(folder, "key.pem"), certificates.key),
    writeFile(join(folder, "both.pem"), certificates.cert + certificates.key),
  ]);
  const { programme, args, hasPlainPort } = await CONFIGURE[name]({ ...surroundings, port, plainPort });
  const isReady = (): Promise<boolean> =>
    requestOverHttp1(url, { path: "/readyz" }, certificates).then(
      ({ status }) => status === 200,
      () => false,
    );
  const env = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const { kill, stop } = await startProgramme(programme, { args, folder, env, isReady });
  const takeOut = async (nodePort: number): Promise<void> => {
    if (programme !== "nginx") return;
    const file = join(folder, "heliograph.conf");
    const server = `server 127.0.0.1:${nodePort} `;
    await writeFile(file, exchange(await readFile(file, "utf8"), { [server]: `${server}down ` }));
    kill("SIGHUP");
  };
  return { url, plainPort: hasPlainPort ? plainPort : null, takeOut, stop };
}

interface Configured {
  programme: ProxyKind["programme"];
  args: string[];
  hasPlainPort: boolean;
}

type Configure = (around: Surroundings & { port: number; plainPort: number }) => Promise<Configured>;

const CONFIGURE: Record<ProxyKind["name"], Configure> = {
  nginx: async ({ folder, nodePorts: [one, two], port, plainPort }) => {
    await writeFile(
      join(folder, "heliograph.conf"),
      exchange(await readFile(join(DEPLOY, "nginx/heliograph.conf"), "utf8"), {
        "listen 80;": `listen 127.0.0.1:${plainPort};`,
        "listen [::]:80;": "",
        "listen 443 ssl http2;": `listen 127.0.0.1:${port} ssl http2;`,
        "listen [::]:443 ssl http2;": "",
        "server_name sms.example;": "server_name localhost;",
        "/etc/ssl/sms.example/fullchain.pem": join(folder, "cert.pem"),
        "/etc/ssl/sms.example/privkey.pem": join(folder, "key.pem"),
        "127.0.0.1:8080": `127.0.0.1:${one}`,
        "127.0.0.1:8081": `127.0.0.1:${two}`,
      }),
    );
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    const main = [
      // As root its processes would change to a user that may not enter the folder.
      ...(process.getuid?.() === 0 ? ["user root;"] : []),
      "daemon off;",
      "pid nginx.pid;",
      "events {}",
      "http {",
      "access_log off;",
      ...temporary.map((kind) => `${kind}_temp_path ${join(folder, kind)};`),
      `include ${join(folder, "heliograph.conf")};`,
      "}",
    ];
    await writeFile(join(folder, "nginx.conf"), main.join("\n"));
    const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"];
    return { programme: "nginx", args, hasPlainPort: true };
  },

  Caddy: async ({ folder, nodePorts: [one, two], port, plainPort }) => {
    const file = join(folder, "Caddyfile");
    const shipped = exchange(await readFile(join(DEPLOY, "caddy/Caddyfile"), "utf8"), {
      "\nsms.example {": `\nhttps://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${join(folder, "cert.pem")} ${join(folder, "key.pem")}`,
      "127.0.0.1:8080": `127.0.0.1:${one}`,
      "127.0.0.1:8081": `127.0.0.1:${two}`,
    });
    await writeFile(file, `{\n\tadmin off\n\thttp_port ${plainPort}\n\thttps_port ${port}\n}\n${shipped}`);
    return { programme: "caddy", args: ["run", "--config", file, "--adapter", "caddyfile"], hasPlainPort: true };
  },

  HAProxy: async ({ folder, nodePorts: [one, two], port, plainPort }) => {
    const file = join(folder, "haproxy.cfg");
    const config = exchange(await readFile(join(DEPLOY, "haproxy/haproxy.cfg"), "utf8"), {
      "bind :80\n": `bind 127.0.0.1:${plainPort}\n`,
      "bind :443 ": `bind 127.0.0.1:${port} `,
      "/etc/haproxy/certs/sms.example.pem": join(folder, "both.pem"),
      "127.0.0.1:8080": `127.0.0.1:${one}`,
      "127.0.0.1:8081": `127.0.0.1:${two}`,
    });
    await writeFile(file, config);
    return { programme: "haproxy", args: ["-db", "-f", file], hasPlainPort: true };
  },

  "HAProxy in TCP mode": async ({ folder, nodePorts: [one, two], port }) => {
    const file = join(folder, "haproxy.cfg");
    const config = exchange(await readFile(join(DEPLOY, "haproxy/haproxy-tcp.cfg"), "utf8"), {
      "bind :443\n": `bind 127.0.0.1:${port}\n`,
      "127.0.0.1:8443": `127.0.0.1:${one}`,
      "127.0.0.1:8444": `127.0.0.1:${two}`,
    });
    await writeFile(file, config);
    return { programme: "haproxy", args: ["-db", "-f", file], hasPlainPort: false };
  },
};

/** Replaces each text wherever it occurs. */
function exchange(config: string, texts: Record<string, string>): string {
  return Object.entries(texts).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the shipped configuration has no ${JSON.stringify(from)}`);
    return text.replaceAll(from, to);
  }, config);
}
