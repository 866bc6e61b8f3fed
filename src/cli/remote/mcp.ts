import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { JSONRPCMessageSchema, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Config } from "../../config.ts";
import { isObject } from "../../lib/json.ts";
import type { Terminal } from "../terminal.ts";
import { chooseServer, type Server, type ServerOptions } from "./server.ts";

/** JSON-RPC code of an error that the protocol does not name. */
const INTERNAL_ERROR = -32_603;
const ANSWER_LIMIT_MS = 60_000;

/** `mcp`: passes the messages of an assistant on stdin to `POST /mcp` of a server, where all limits are checked. */
export async function mcp(
  config: Config,
  _words: readonly string[],
  options: ServerOptions,
  _terminal: Terminal,
  profiles: string,
): Promise<string> {
  const server = chooseServer(config, options, profiles);
  const transport = new StdioServerTransport();
  const pending = new Set<Promise<void>>();
  let version: string | null = null;
  const pass = async (message: JSONRPCMessage): Promise<void> => {
    const answer = await ask(server, message, version);
    if (answer === null) return;
    if ("result" in answer && typeof answer.result["protocolVersion"] === "string")
      version = answer.result["protocolVersion"];
    await transport.send(answer);
  };
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage): void => {
      const passed = pass(message).finally(() => pending.delete(passed));
      pending.add(passed);
    },
    // A line that is no message has no id to answer to.
    onerror: (error: Error): void => void process.stderr.write(`heliograph: ${error.message}\n`),
  });
  const ended = new Promise<void>((resolve) => process.stdin.once("end", resolve).once("close", resolve));
  await transport.start();
  await ended;
  await Promise.all(pending);
  await transport.close();
  return "";
}

/** The server's answer; null to a notification. A server that cannot be reached is an error of the request. */
async function ask(server: Server, message: JSONRPCMessage, version: string | null): Promise<JSONRPCMessage | null> {
  const id = "method" in message && "id" in message ? message.id : null;
  const failure = (reason: string): JSONRPCMessage | null =>
    id === null ? null : { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message: reason } };
  try {
    const response = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        apikey: server.key,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(version !== null && { "mcp-protocol-version": version }),
      },
      body: JSON.stringify(message),
      // Another host must not get the key.
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    const text = await response.text();
    if (response.ok && text === "") return null;
    const answer: unknown = JSON.parse(text);
    const read = JSONRPCMessageSchema.safeParse(answer);
    if (read.success) return read.data;
    const said = isObject(answer) && typeof answer["message"] === "string" ? answer["message"] : "";
    return failure(said || `the server answered ${response.status}`);
  } catch (error) {
    return failure(`no server answers at ${server.url}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
