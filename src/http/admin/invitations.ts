import { acceptInvitation } from "../../accounts/invitations.ts";
import { Type } from "../../lib/schema.ts";
import { rejectForeignOrigin } from "../auth/admit-session.ts";
import { clientAddressOf } from "../auth/request-caller.ts";
import { openRoute, type Call, type Services, type WithBody } from "../route.ts";

const AcceptBody = Type.Object({
  token: Type.String({ maxLength: 100, description: "Part of the link after `#`." }),
  password: Type.String({ maxLength: 1000, description: "New password: 10 to 200 characters, not the email address." }),
});

async function accept(
  { loginDeps, baseUrl }: Services,
  { request, reply, body }: WithBody<Call, typeof AcceptBody>,
): Promise<object> {
  rejectForeignOrigin(request.headers, baseUrl());
  void reply.header("cache-control", "no-store");
  const { email } = await acceptInvitation(loginDeps, { ...body, address: clientAddressOf(request) });
  return { email };
}

export const acceptInvitationRoute = openRoute({
  method: "POST",
  path: "/api/invitations/accept",
  family: "plain",
  scope: null,
  group: "Login",
  summary: "Accept an invitation",
  description:
    "Sets the password of an invited user, who then logs in with `POST /api/session`. A link works once and until it expires. Ends all sessions of the user.",
  problems: ["INVITATION_INVALID", "RATE_LIMITED", "CSRF_REFUSED", "STORAGE_UNAVAILABLE"],
  bodyBytesMax: 16_384,
  body: AcceptBody,
  requestExamples: {
    "a first password": { token: "mO5q7c1aB0y2sN4kPpVd8wQ6tR3uE9zXjHgLfKiYxTs", password: "correct horse battery" },
  },
  response: Type.Object({ email: Type.String({ description: "Email address to log in with." }) }),
  responseExample: { email: "ann@example.com" },
  handle: accept,
});
