import { openFakeWhatsapp, type SignedCall } from "./fake-whatsapp.ts";

/**
 * The fake in a process of its own, for whoever measures: `node fake-whatsapp-process.ts '<options>' <callback address>`.
 * It writes its address as the first line, and reports to the callback address, if there is one, ten times in a second.
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
    // Whoever does not answer is told again.
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
