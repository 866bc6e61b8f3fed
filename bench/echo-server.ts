import { randomUUID } from "node:crypto";
import { fastify } from "fastify";
import { sendSms } from "../src/http/public/sms.ts";
import { PHONE_FORMATS } from "../src/model/number.ts";

/**
 * Baseline: Fastify with the same request and response schemas and no storage. Every durable endpoint does at least
 * this work.
 */
// The server's own schemas name formats of phone numbers, which only documentation uses.
const formats = Object.fromEntries(Object.keys(PHONE_FORMATS).map((name) => [name, true as const]));
const app = fastify({ ajv: { customOptions: { formats } } });
app.post("/v1/sms", { schema: { body: sendSms.body, response: { 200: sendSms.response } } }, async (request) => {
  const { to, flash } = request.body as { to: string | string[]; flash?: number };
  const id = randomUUID();
  const recipients = Array.isArray(to) ? to : [to];
  return {
    id,
    data: recipients.map((recipient, index) => ({ recipient, messageId: `${id}:${index + 1}` })),
    totalCount: recipients.length,
    message: "Message Sent Successfully!",
    error: null,
    ...(flash === undefined ? {} : { flash }),
  };
});
const address = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${new URL(address).port}\n`);
