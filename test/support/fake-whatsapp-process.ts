import { openFakeWhatsapp, type SignedCall } from "./fake-whatsapp.ts";

/**
 * Runs the fake in its own process for benches: `node fake-whatsapp-process.ts '<options>' <callback URL>`. Prints its
 * URL as the first line and sends reports to the callback URL ten times per second.
 */
const [options = "{}", callbackUrl = ""] = process.argv.slice(2);

async function deliver({ body, headers }: SignedCall): Promise<number> {
  try {
    const answer = await fetch(callbackUrl, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { "content-type": "application/json", ...headers },
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    // No response: the report stays pending.
    return 0;
  }
}

const fake = await openFakeWhatsapp({ ...(JSON.parse(options) as object), deliver });
process.stdout.write(`${fake.url}\n`);
if (callbackUrl !== "")
  for (;;) {
    await fake.report();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
