import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMAND_LINE } from "../support/entries.ts";
import { agentOver } from "../support/mcp-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

describe("heliograph mcp", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite");
  });
  afterAll(() => server.close());

  const start = (url: string, key: string) =>
    new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND_LINE, "mcp", "--url", url],
      env: { PATH: process.env["PATH"] ?? "", HELIOGRAPH_API_KEY: key },
      stderr: "pipe",
    });

  test("the official client previews and sends over stdin and stdout", async () => {
    const agent = await agentOver(start(server.url, server.key));
    expect((await agent.client.listTools()).tools.map(({ name }) => name)).toContain("verify_start");
    const { token } = await agent.call("preview", { sender: "HELIOG", to: "15550100100", text: "Hello" });
    const [messageId] = (await agent.call("send", { token })).messageIds;
    expect(await server.settled(messageId ?? "")).toMatchObject({ status: "Delivered", text: "Hello" });
    expect(await agent.refusal("send", { token })).toBe("AGENT_SEND_OVER");
    await agent.client.close();
  });

  test("a refused key and an unreachable server are errors of the request", async () => {
    await expect(agentOver(start(server.url, `${server.key}x`))).rejects.toThrow("key");
    await expect(agentOver(start("http://127.0.0.1:9", server.key))).rejects.toThrow("no server answers");
  });
});
