import { createServer, type Server, type ServerResponse } from "node:http";

const LIMITS = {
  maxHeaderSize: 8192,
  headersTimeout: 5000,
  requestTimeout: 5000,
  keepAliveTimeout: 1000,
  connectionsCheckingInterval: 1000,
};

const CHALLENGE = /^\/\.well-known\/acme-challenge\/([\w-]{1,200})$/;

/**
 * A plain HTTP server that sends browsers to the https URL, and answers the challenges of an ACME authority. Other requests than
 * reads are refused: a redirect would hide that their API key has crossed the network in plain text. The target never comes
 * from the Host header (open redirect).
 */
export function createRedirectServer(
  baseUrl: () => string,
  answerTo: (token: string) => Promise<string | null> | null,
): Server {
  return createServer(LIMITS, (request, response) => {
    const { method, url = "/" } = request;
    response.setHeader("connection", "close");
    const isRead = method === "GET" || method === "HEAD";
    const token = isRead ? CHALLENGE.exec(url)?.[1] : undefined;
    const answer = token === undefined ? null : answerTo(token);
    if (answer) return void sendAnswer(response, answer);
    if (isRead && url.startsWith("/"))
      return void response.writeHead(308, { location: baseUrl() + url, "content-length": 0 }).end();
    const text = `{"message":"This port only redirects browsers. Use ${baseUrl()} and replace any key that was sent here."}`;
    return void response.writeHead(403, { "content-type": "application/json; charset=utf-8" }).end(text);
  });
}

async function sendAnswer(response: ServerResponse, answer: Promise<string | null>): Promise<void> {
  const send = (status: number, text: string): void =>
    void response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
  try {
    const text = await answer;
    if (text === null) send(404, "Heliograph has no such challenge.\n");
    else send(200, text);
  } catch {
    // The store is unavailable; the authority asks again.
    send(503, "The challenge cannot be read now.\n");
  }
}
