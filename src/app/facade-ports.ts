import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { ServedFacade } from "../config.ts";
import type { AppBase } from "./base.ts";

/** Creates a server that has one facade and nothing else but its health. */
export type CreateFacadeServer = (kind: ServedFacade["kind"]) => FastifyInstance;

interface MovedFacade {
  kind: ServedFacade["kind"];
  port: number;
  server: FastifyInstance;
}

/** Listens on the ports of facades that have one of their own. */
export async function listenForFacades(
  { config, log }: AppBase,
  create: CreateFacadeServer,
  tls: boolean,
): Promise<readonly MovedFacade[]> {
  const moved: MovedFacade[] = [];
  if (!config.roles.includes("api")) return moved;
  const { host } = config;
  for (const facade of config.facades) {
    const { kind, port: wanted } = facade;
    if (wanted === null) continue;
    const server = create(kind);
    await server.listen({ host, port: wanted });
    const { port } = server.server.address() as AddressInfo;
    log.info({ kind, host, port, tls }, "facade listening");
    moved.push({ kind, port, server });
  }
  return moved;
}
