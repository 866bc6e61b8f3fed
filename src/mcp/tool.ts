import type { ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { Agent } from "../http/agents/agent-calls.ts";
import type { Services } from "../http/route.ts";
import type { Infer, ObjectSchema, Fields } from "../lib/schema.ts";
import type { Scope } from "../model/api-key.ts";

/** The result of a tool, and the resource that its audit entry names. */
export interface ToolAnswer {
  value: object;
  recordId?: string | null;
}

/** A tool that agents call. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: ObjectSchema;
  annotations: ToolAnnotations;
  /** One of them is needed. The routes that a tool uses check the scopes again. */
  scopes: readonly Scope[];
  /** The same for test keys, which have no access to the configuration. */
  testScopes?: readonly Scope[];
  run(services: Services, agent: Agent, input: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
}

/** Gives `run` the static type of the tool's input, which has been checked. */
export const tool = <F extends Fields>(
  definition: Omit<Tool, "input" | "run"> & {
    input: ObjectSchema<F>;
    run(services: Services, agent: Agent, input: Infer<ObjectSchema<F>>): Promise<ToolAnswer>;
  },
): Tool => definition as unknown as Tool;

export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** True if the key may call the tool. */
export const isOffered = ({ scopes, testScopes = scopes }: Tool, { credential: { key } }: Agent): boolean =>
  (key.mode === "test" ? testScopes : scopes).some((scope) => key.scopes.includes(scope));

/** A path with the parameters that are given. */
export function pathOf(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}
