import { McpError, type ReadResourceResult, type Resource } from "@modelcontextprotocol/sdk/types.js";
import type { Agent } from "../http/agents/agent-calls.ts";
import { readBuilt } from "../http/dashboard-assets/built-file.ts";
import type { Services } from "../http/route.ts";
import { parseMessageId } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import { markAsData } from "./present.ts";
import { readMessage } from "./read-tools.ts";

const DOCS = "heliograph://docs/";
const MESSAGES = "heliograph://messages/";
/** JSON-RPC code of MCP for an unknown resource. */
const RESOURCE_NOT_FOUND = -32_002;

interface Guide {
  name: string;
  title: string;
  about: string;
  html: string;
}

async function readGuides(): Promise<readonly Guide[]> {
  const built = await readBuilt("docs/", "guides.json");
  return built ? (JSON.parse(built.identity.toString("utf8")) as { guides: Guide[] }).guides : [];
}

/** The guides of this server. */
export const listResources = async (): Promise<Resource[]> =>
  (await readGuides()).map(({ name, title, about }) => ({
    uri: DOCS + name,
    name,
    title,
    description: about,
    mimeType: "text/html",
  }));

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${MESSAGES}{messageId}`,
    name: "message",
    title: "A message",
    description: "A message with its status and timeline.",
    mimeType: "application/json",
  },
];

export async function readResource(services: Services, agent: Agent, uri: string): Promise<ReadResourceResult> {
  if (uri.startsWith(DOCS)) {
    const guide = (await readGuides()).find(({ name }) => uri === DOCS + name);
    if (guide) return { contents: [{ uri, mimeType: "text/html", text: guide.html }] };
  }
  const id = uri.startsWith(MESSAGES) ? decodeId(uri.slice(MESSAGES.length)) : null;
  if (id === null || !parseMessageId(id)) throw new McpError(RESOURCE_NOT_FOUND, "There is no such resource", { uri });
  try {
    const message = markAsData(await readMessage(services, agent, id));
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(message) }] };
  } catch (error) {
    if (error instanceof Problem && error.status < 500)
      throw new McpError(RESOURCE_NOT_FOUND, `${error.code}: ${error.message}`, { uri });
    throw error;
  }
}

function decodeId(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not encoded as a URI: no message has such an id.
    return null;
  }
}
