import { nullable, Type } from "../../lib/schema.ts";
import { DEFAULT_AGENT_LIMITS, readRecipientPattern } from "../../model/agent.ts";

const AgentLimitsView = Type.Object(
  {
    recipients: Type.Default(
      Type.Array(
        Type.String({
          maxLength: 40,
          check: (entry) =>
            readRecipientPattern(entry) === null
              ? "Use an international number, or its beginning with an asterisk, such as 4915*."
              : null,
        }),
        {
          maxItems: 1000,
          description:
            "Allowed recipients: international numbers, or beginnings of numbers that end with `*`. Empty allows all.",
        },
      ),
      DEFAULT_AGENT_LIMITS.recipients,
    ),
    messagesPerHour: Type.Default(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: "Messages and codes within any hour." }),
      DEFAULT_AGENT_LIMITS.messagesPerHour,
    ),
    creditsPerDay: Type.Default(
      Type.Integer({ minimum: 0, maximum: 100_000_000, description: "Credits within any 24 hours." }),
      DEFAULT_AGENT_LIMITS.creditsPerDay,
    ),
    showsNumbers: Type.Default(
      Type.Boolean({ description: "False masks phone numbers and codes in everything that the agent reads." }),
      DEFAULT_AGENT_LIMITS.showsNumbers,
    ),
    needsApproval: Type.Default(
      Type.Boolean({ description: "True if a person must approve each send in the dashboard." }),
      DEFAULT_AGENT_LIMITS.needsApproval,
    ),
  },
  { title: "AgentLimits" },
);

/** The field of a key for agents. */
export const agentField = nullable(
  AgentLimitsView,
  "Limits of a key for agents (AI assistants). A key with limits is valid at `/mcp` only; null is an ordinary key.",
);
