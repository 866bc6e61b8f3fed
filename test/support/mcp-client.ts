import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";

/** The fields of results that tests read. */
interface ToolResult {
  notice: string;
  token: string;
  state: string;
  messageIds: string[];
  verifyId: string;
  preview: { credits: number; recipients: { recipient: string }[] };
  data: Record<string, unknown>[];
  error: { code: string; message: string };
}

/** An agent with the official client. */
export interface TestAgent {
  client: Client;
  /** The structured result of a tool, also of one that is refused. */
  call(name: string, input?: Record<string, unknown>): Promise<ToolResult>;
  /** The code of a refusal; fails if the tool succeeds. */
  refusal(name: string, input?: Record<string, unknown>): Promise<string>;
}

export async function agentOver(transport: Transport): Promise<TestAgent> {
  const client = new Client({ name: "test agent", version: "1.0.0" });
  await client.connect(transport);
  const ask = async (name: string, input: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: input }, CallToolResultSchema);
    const content: unknown = result.structuredContent;
    return { isError: result.isError === true, content: content as ToolResult };
  };
  return {
    client,
    call: async (name, input = {}) => (await ask(name, input)).content,
    async refusal(name, input = {}) {
      const { isError, content } = await ask(name, input);
      if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(content)}`);
      return content.error.code;
    },
  };
}

/** An agent that speaks streamable HTTP with an API key. */
export const agentAt = (url: string, key: string): Promise<TestAgent> =>
  agentOver(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  );
