import { BadSetting, type Config } from "../../config.ts";
import type { Terminal } from "../terminal.ts";
import { chooseServer, type ServerOptions } from "./server.ts";

interface Endpoint {
  id: string;
  name: string;
  events?: string[];
}

interface Trial {
  request: { url: string };
  response: { delivered: boolean; status: number | null; ms: number; reason: string | null };
}

const REPORT = "delivery_report";

/** `trigger EVENT`: sends a sample event to each webhook that subscribes to it. Exit code 1 if one does not take it. */
export async function trigger(
  config: Config,
  [event = ""]: readonly string[],
  { name, ...options }: ServerOptions & { name?: string | undefined },
  terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const { data: types } = await server.get<{ data: { event: string }[] }>("/api/event-types");
  const known = [...new Set(types.map((type) => type.event))];
  if (!known.includes(event)) throw new BadSetting(`EVENT is one of ${known.join(", ")}`);
  const kind = event === REPORT ? "dlr-configs" : "webhooks";
  const { data } = await server.get<{ data: Endpoint[] }>(`/api/${kind}?limit=200`);
  const endpoints = data.filter(
    (endpoint) => (endpoint.events?.includes(event) ?? true) && (name === undefined || endpoint.name === name),
  );
  if (endpoints.length === 0)
    throw new BadSetting(`no endpoint${name === undefined ? "" : ` named ${name}`} gets ${event}`);
  const trials: (Trial & { name: string })[] = [];
  for (const endpoint of endpoints) {
    const body = event === REPORT ? {} : { event };
    const trial = await server.post<Trial>(`/api/${kind}/${endpoint.id}/test`, body);
    trials.push({ name: endpoint.name, ...trial });
    const { delivered, status, ms, reason } = trial.response;
    if (!delivered) process.exitCode = 1;
    if (!options.json) terminal.say(`${endpoint.name} at ${trial.request.url}: ${status ?? reason} in ${ms} ms`);
  }
  return options.json ? JSON.stringify(trials, null, 2) : "";
}
