import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BodyBudget, BodyLease } from "./body-budget.ts";
import { bodyTooLarge } from "./decode-body.ts";
import { OVERLOADED } from "./errors.ts";

const leases = new WeakMap<FastifyRequest, BodyLease>();

/** Opens a request's part of the body budget, which it holds until its response is sent or its client has left. */
export function openLease(budget: BodyBudget, request: FastifyRequest, { raw }: FastifyReply): void {
  const lease = budget.lease();
  leases.set(request, lease);
  raw.once("close", () => lease.release());
}

/** Opens the lease of a send without a body: its messages are in the query, and take room like those of a body. */
export function openLeaseOnce(budget: BodyBudget, request: FastifyRequest, reply: FastifyReply): void {
  if (!leases.has(request)) openLease(budget, request, reply);
}

export function leaseOf(budget: BodyBudget, request: FastifyRequest): BodyLease {
  return leases.get(request) ?? budget.lease();
}

/** Receives a body through Node's HTTP server. The fast path has its own reader and the same budget. */
export async function receiveBody(lease: BodyLease, payload: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const announced = Number(payload.headers["content-length"] ?? 0);
  if (announced > bytesMax) throw bodyTooLarge(bytesMax);
  const waiting = lease.expect(announced);
  if (waiting) await waiting;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      payload.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
    };
    const onData = (chunk: Buffer): void => {
      const isTooLarge = lease.receivedBytes + chunk.length > bytesMax;
      if (!isTooLarge && lease.append(chunk)) return;
      stop();
      reject(isTooLarge ? bodyTooLarge(bytesMax) : OVERLOADED);
    };
    const onEnd = (): void => {
      stop();
      resolve(lease.body);
    };
    const onError = (error: Error): void => {
      stop();
      reject(error);
    };
    const onClose = (): void => onError(new Error("the client left during its body"));
    if (payload.destroyed) return onClose();
    payload.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
    payload.resume();
  });
}
