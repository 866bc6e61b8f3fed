import { Type } from "../lib/schema.ts";
import type { ChatSessionContent } from "../model/chatapp.ts";

/** The parts of a session message besides its text, in the form of the request. */
export const sessionView = ({ part, reference }: ChatSessionContent): object => ({
  ...(part && { session: part }),
  ...(reference && { about: reference.id }),
});

/** Fields of a session message besides its text, for responses. */
export const SESSION_VIEW = {
  session: Type.Optional(
    Type.Record(Type.Unknown(), {
      description:
        "Chat app: content of a session message that is no text, as in the request: its `type` and the field of that name.",
    }),
  ),
  about: Type.Optional(
    Type.String({ description: "Chat app: message that it replies to or reacts to, as the request named it." }),
  ),
};
