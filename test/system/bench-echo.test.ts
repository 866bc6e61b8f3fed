import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

test("the baseline of the accept benchmark answers a send as the server does", async () => {
  const echo = spawn(process.execPath, [join(import.meta.dirname, "../../bench/echo-server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [printed] = (await once(echo.stdout, "data")) as [Buffer];
    const send = { sender: "HELIOG", to: ["15550100100", "15550100101"], text: "Hi", type: "TRANS" };
    const response = await fetch(`http://127.0.0.1:${String(printed).trim()}/v1/sms`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(send),
    });
    expect(await response.json()).toMatchObject({
      data: [{ recipient: "15550100100" }, { recipient: "15550100101" }],
      totalCount: 2,
      message: "Message Sent Successfully!",
      error: null,
    });
  } finally {
    echo.kill();
  }
});
