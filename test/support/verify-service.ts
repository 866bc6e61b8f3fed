import type { TestServer } from "./test-server.ts";

/** Creates a verification configuration with all channels, and returns its SID at Twilio's API. */
export async function createVerifyService(server: TestServer): Promise<string> {
  const body = "Your code is {{1}}";
  await server.request("POST", "/api/templates", { channel: "rcs", name: "all-rcs", kind: "text", text: body });
  await server.request("POST", "/api/templates", {
    channel: "chatapp",
    name: "all_chat",
    category: "authentication",
    body,
  });
  const { body: config } = await server.request<{ twilioSid: string }>("POST", "/api/verify-configs", {
    name: "all channels",
    channels: [
      { channel: "sms", from: "HELIOG", waitSeconds: 30 },
      { channel: "rcs", from: "heliograph", template: "all-rcs", waitSeconds: 30 },
      { channel: "chatapp", from: "+15550100199", template: "all_chat", waitSeconds: 30 },
    ],
  });
  return config.twilioSid;
}
