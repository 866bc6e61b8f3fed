import type { IncomingMessage, ServerResponse } from "node:http";
import type { Credential } from "../accounts/keyring.ts";
import { authenticate, type Admission } from "./authenticate.ts";
import { JSON_TYPE, type JsonText } from "./envelope.ts";
import { failureOf } from "./failure.ts";
import { readJson } from "./read-json.ts";
import type { Route, SendCall, SendRoute, Services } from "./route.ts";

interface Needs {
  services: Services;
  admission: Admission;
  bodyBytesMax: number;
  addressOf(request: IncomingMessage): string;
}

/**
 * The door for sends, on Node's bare HTTP. The framework costs as much as everything else about a send together,
 * and an ordinary one (a path we know, plain JSON of a stated length) needs nothing of it.
 * Says false for any other request: that one takes the ordinary door, where the same handlers stand.
 */
export function createExpressDoor(
  needs: Needs,
  routes: readonly Route[],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const byPath = new Map(routes.filter(isSendRoute).map((route) => [route.path, route]));
  return (request, response) => {
    const route = request.method === "POST" ? byPath.get(request.url ?? "") : undefined;
    if (!route || !isOrdinary(request, needs.bodyBytesMax)) return false;
    enter(needs, route, request, response);
    return true;
  };
}

const isSendRoute = (route: Route): route is SendRoute => "express" in route;

function isOrdinary({ headers }: IncomingMessage, bodyBytesMax: number): boolean {
  const type = headers["content-type"];
  if (type !== "application/json" && type !== JSON_TYPE) return false;
  const length = Number(headers["content-length"]);
  return length > 0 && length <= bodyBytesMax && headers["transfer-encoding"] === undefined;
}

/** The key is looked at before a byte of the body is read. */
function enter(needs: Needs, route: SendRoute, request: IncomingMessage, response: ServerResponse): void {
  const { headers } = request;
  const setHeader = (name: string, value: string): void => void response.setHeader(name, value);
  let caller: Credential;
  try {
    caller = authenticate(needs.admission, { headers, address: needs.addressOf(request) }, route.scope, setHeader);
  } catch (error) {
    return refuse(needs, route, response, error);
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => void chunks.push(chunk));
  // Who leaves in the middle of a body never gets here, and there is nobody to tell.
  request.on("end", () => {
    void answer(needs, route, response, textOf(chunks), (body) => ({ headers, body, caller, setHeader }));
  });
}

const textOf = (chunks: readonly Buffer[]): string =>
  (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString("utf8");

async function answer(
  needs: Needs,
  route: SendRoute,
  response: ServerResponse,
  text: string,
  callWith: (body: unknown) => SendCall,
): Promise<void> {
  try {
    send(needs, response, 200, await route.handle(needs.services, callWith(readJson(text))));
  } catch (error) {
    refuse(needs, route, response, error);
  }
}

function refuse(needs: Needs, route: SendRoute, response: ServerResponse, error: unknown): void {
  const { status, headers, text } = failureOf(needs.services, error, route.family);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  send(needs, response, status, { text });
}

function send({ services }: Needs, response: ServerResponse, status: number, { text }: JsonText): void {
  if (services.stopping.aborted) response.setHeader("connection", "close");
  response.writeHead(status, { "content-type": JSON_TYPE, "content-length": Buffer.byteLength(text) }).end(text);
}
