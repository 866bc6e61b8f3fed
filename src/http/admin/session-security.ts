import { confirmPassword, confirmSecondFactor } from "../../accounts/log-in.ts";
import { hashPassword } from "../../accounts/passwords.ts";
import { newRecoveryCodes, newTotpSecret, otpauthUrl, readRecoveryCode, stepOfCode } from "../../accounts/totp.ts";
import { base32 } from "../../lib/base32.ts";
import { Type, type Infer } from "../../lib/schema.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { passwordFault, type User } from "../../model/user.ts";
import type { CheckedFields } from "../check-body.ts";
import { clientAddressOf } from "../auth/request-caller.ts";
import { personalRoute, type PersonalCall, type PersonalRoute, type Services, type WithBody } from "../route.ts";

/** Issuer shown in authenticator apps. */
const ISSUER = "Heliograph";

/** Checks the new password; the current one is compared if it is well-typed. */
function nextFaults({ right: { current, next } }: CheckedFields<Infer<typeof PasswordBody>>, { email }: User): Fault[] {
  if (next === undefined) return [];
  const message =
    passwordFault(next, email) ?? (next === current ? "The new password must differ from the current one." : null);
  return message === null ? [] : [{ parameter: "next", message }];
}

async function patchPassword(
  { loginDeps: people }: Services,
  { caller, body, request }: WithBody<PersonalCall, typeof PasswordBody>,
): Promise<object> {
  const { user, digest } = caller.session;
  const { current, next } = body;
  await confirmPassword(people, user, current, clientAddressOf(request));
  await people.store.savePassword(user, { passwordHash: await hashPassword(next), passwordDue: false }, digest);
  return { changed: true };
}

async function beginTotp(
  { loginDeps: people }: Services,
  { caller, body, request }: WithBody<PersonalCall, typeof BeginTotpBody>,
): Promise<object> {
  const { user } = caller.session;
  if (user.totpSecret !== null) throw new Problem("TOTP_ALREADY_ON");
  const { password } = body;
  await confirmPassword(people, user, password, clientAddressOf(request));
  const secret = newTotpSecret();
  await people.store.beginTotp(user, people.secrets.totpSeal.encrypt(secret.toString("base64url")));
  return { secret: base32(secret), otpauthUrl: otpauthUrl(secret, user.email, ISSUER) };
}

async function confirmTotp(
  { loginDeps: people }: Services,
  { caller, body }: WithBody<PersonalCall, typeof ConfirmTotpBody>,
): Promise<object> {
  const { store, clock, secrets } = people;
  const { user, digest } = caller.session;
  if (user.totpSecret !== null) throw new Problem("TOTP_ALREADY_ON");
  const encrypted = user.totpNext;
  if (encrypted === null) throw new Problem("TOTP_INCORRECT", { message: "Start with `POST /api/session/totp`." });
  const { code } = body;
  const secret = Buffer.from(secrets.totpSeal.decrypt(encrypted), "base64url");
  const step = stepOfCode(secret, code.replaceAll(" ", ""), clock.now());
  if (step === null) throw new Problem("TOTP_INCORRECT");
  const recoveryCodes = newRecoveryCodes();
  const digests = recoveryCodes.map((each) => secrets.recoveryDigest(user.id, readRecoveryCode(each) ?? ""));
  if (!(await store.confirmTotp(user, encrypted, step, digests, digest))) throw new Problem("TOTP_INCORRECT");
  return { recoveryCodes };
}

async function deleteTotp(
  { loginDeps: people }: Services,
  { caller, body, request }: WithBody<PersonalCall, typeof DeleteTotpBody>,
): Promise<object> {
  const { user } = caller.session;
  if (user.totpSecret === null) throw new Problem("RECORD_NOT_FOUND", { message: "Two-factor authentication is off." });
  const { password, code } = body;
  await confirmPassword(people, user, password, clientAddressOf(request));
  await confirmSecondFactor(people, user, code, clientAddressOf(request));
  await people.store.removeTotp(user);
  return { totp: false };
}

const Password = (description: string) => Type.String({ maxLength: 1000, description });
const Code = Type.String({ maxLength: 50, description: "Six-digit code of the authenticator app." });

const PasswordBody = Type.Object({
  current: Password("Current password."),
  next: Password("New password: 10 to 200 characters, not the email address."),
});
const BeginTotpBody = Type.Object({ password: Password("Password of the user.") });
const ConfirmTotpBody = Type.Object({ code: Code });
const DeleteTotpBody = Type.Object({
  password: Password("Password of the user."),
  code: Type.String({ maxLength: 50, description: "Code of the authenticator app, or a recovery code." }),
});

const common = { family: "plain", scope: null, personal: true, group: "Login" } as const;
const ofTotp = { ...common, path: "/api/session/totp" } as const;

/** Password and two-factor authentication of the logged-in user. */
export const sessionSecurityRoutes: readonly PersonalRoute[] = [
  personalRoute({
    ...common,
    method: "PATCH",
    path: "/api/session/password",
    summary: "Change your password",
    description:
      "Changes the password of the logged-in user and ends all their other sessions. Wrong passwords count as failed logins.",
    problems: ["PASSWORD_INCORRECT", "LOGIN_LOCKED"],
    body: PasswordBody,
    requestExamples: { "new password": { current: "correct horse battery", next: "correct horse battery staple" } },
    response: Type.Object({ changed: Type.Literal(true, { description: "Always true." }) }),
    responseExample: { changed: true },
    bodyFaults: (fields, _services, { caller }) => nextFaults(fields, caller.session.user),
    handle: patchPassword,
  }),
  personalRoute({
    ...ofTotp,
    method: "POST",
    summary: "Set up two-factor authentication",
    description:
      "Generates a secret for an authenticator app, shown only once. Confirm it with a first code by `PUT`. Requires the password, so that an unattended session cannot be bound to another app.",
    problems: ["TOTP_ALREADY_ON", "PASSWORD_INCORRECT", "LOGIN_LOCKED"],
    body: BeginTotpBody,
    requestExamples: { "with the password": { password: "correct horse battery" } },
    response: Type.Object({
      secret: Type.String({ description: "Secret in base 32, for manual entry." }),
      otpauthUrl: Type.String({ description: "otpauth URL for a QR code." }),
    }),
    responseExample: {
      secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
      otpauthUrl:
        "otpauth://totp/Heliograph:admin%40localhost?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Heliograph&period=30&digits=6",
    },
    handle: beginTotp,
  }),
  personalRoute({
    ...ofTotp,
    method: "PUT",
    summary: "Enable two-factor authentication",
    description:
      "Confirms that the app has the secret; every login now requires a code. Ends all other sessions of the user. Returns ten recovery codes, each valid once instead of a code; they are shown only once.",
    problems: ["TOTP_INCORRECT", "TOTP_ALREADY_ON"],
    body: ConfirmTotpBody,
    requestExamples: { "the first code": { code: "287082" } },
    response: Type.Object({
      recoveryCodes: Type.Array(Type.String(), { description: "Ten recovery codes. Store them in a safe place." }),
    }),
    responseExample: { recoveryCodes: ["mfrg-g2dp-ojtw-6zdu"] },
    handle: confirmTotp,
  }),
  personalRoute({
    ...ofTotp,
    method: "DELETE",
    summary: "Disable two-factor authentication",
    description: "Requires the password and a code, so that an unattended session is not enough.",
    problems: ["RECORD_NOT_FOUND", "PASSWORD_INCORRECT", "TOTP_INCORRECT", "LOGIN_LOCKED"],
    body: DeleteTotpBody,
    requestExamples: { both: { password: "correct horse battery", code: "287082" } },
    response: Type.Object({ totp: Type.Literal(false, { description: "Always false." }) }),
    responseExample: { totp: false },
    handle: deleteTotp,
  }),
];
