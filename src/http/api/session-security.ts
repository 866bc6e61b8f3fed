import { confirmPassword, confirmSecondFactor } from "../../accounts/log-in.ts";
import { hashPassword } from "../../accounts/passwords.ts";
import { newRecoveryCodes, newTotpSecret, otpauthUrl, readRecoveryCode, stepOfCode } from "../../accounts/totp.ts";
import { base32 } from "../../lib/base32.ts";
import { Type } from "../../lib/schema.ts";
import { Problem } from "../../model/problem.ts";
import { passwordFault } from "../../model/user.ts";
import { refuseFaults } from "../page-query.ts";
import type { PersonalCall, PersonalRoute, Services } from "../route.ts";

/** What authenticator apps show above the address. */
const ISSUER = "Heliograph";

async function patchPassword({ people }: Services, { caller, body, request }: PersonalCall): Promise<object> {
  const { user, digest } = caller.session;
  const { current, next } = body as { current: string; next: string };
  const fault =
    passwordFault(next, user.email) ?? (next === current ? "The new password is the old one; choose another." : null);
  if (fault !== null) refuseFaults([{ parameter: "next", message: fault }]);
  await confirmPassword(people, user, current, request.ip);
  await people.store.savePassword(user, { passwordHash: await hashPassword(next), passwordDue: false }, digest);
  return { changed: true };
}

async function beginTotp({ people }: Services, { caller, body, request }: PersonalCall): Promise<object> {
  const { user } = caller.session;
  if (user.totpSecret !== null) throw new Problem("TOTP_ALREADY_ON");
  const { password } = body as { password: string };
  await confirmPassword(people, user, password, request.ip);
  const secret = newTotpSecret();
  await people.store.beginTotp(user, people.secrets.totpSeal.seal(secret.toString("base64url")));
  return { secret: base32(secret), otpauthUrl: otpauthUrl(secret, user.email, ISSUER) };
}

async function confirmTotp({ people }: Services, { caller, body }: PersonalCall): Promise<object> {
  const { store, clock, secrets } = people;
  const { user } = caller.session;
  if (user.totpSecret !== null) throw new Problem("TOTP_ALREADY_ON");
  const sealed = user.totpNext;
  if (sealed === null) throw new Problem("TOTP_INCORRECT", { message: "Begin with `POST /api/session/totp`." });
  const { code } = body as { code: string };
  const secret = Buffer.from(secrets.totpSeal.open(sealed), "base64url");
  const step = stepOfCode(secret, code.replaceAll(" ", ""), clock.now());
  if (step === null) throw new Problem("TOTP_INCORRECT");
  const recoveryCodes = newRecoveryCodes();
  const digests = recoveryCodes.map((each) => secrets.recoveryDigest(user.id, readRecoveryCode(each) ?? ""));
  if (!(await store.confirmTotp(user, sealed, step, digests))) throw new Problem("TOTP_INCORRECT");
  return { recoveryCodes };
}

async function deleteTotp({ people }: Services, { caller, body, request }: PersonalCall): Promise<object> {
  const { user } = caller.session;
  if (user.totpSecret === null) throw new Problem("RECORD_NOT_FOUND", { message: "The second factor is not on." });
  const { password, code } = body as { password: string; code: string };
  await confirmPassword(people, user, password, request.ip);
  await confirmSecondFactor(people, user, code, request.ip);
  await people.store.removeTotp(user);
  return { totp: false };
}

const Password = (description: string) => Type.String({ maxLength: 1000, description });
const Code = Type.String({ maxLength: 50, description: "The six digits that the authenticator app shows." });

const common = { family: "plain", scope: null, personal: true, group: "Login" } as const;
const ofTotp = { ...common, path: "/api/session/totp" } as const;

/** What whoever is logged in does about their own safety. */
export const sessionSecurityRoutes: readonly PersonalRoute[] = [
  {
    ...common,
    method: "PATCH",
    path: "/api/session/password",
    summary: "Change one's password",
    description: "Ends every other session of the person. Wrong passwords count as failed logins.",
    problems: ["PASSWORD_INCORRECT", "LOGIN_LOCKED"],
    body: Type.Object({
      current: Password("The password as it is."),
      next: Password("The new one: 10 to 200 characters, and not the e-mail address."),
    }),
    requestExamples: { "a longer one": { current: "correct horse battery", next: "correct horse battery staple" } },
    response: Type.Object({ changed: Type.Literal(true, { description: "Always true." }) }),
    responseExample: { changed: true },
    handle: patchPassword,
  },
  {
    ...ofTotp,
    method: "POST",
    summary: "Begin with a second factor",
    description:
      "Makes the secret that an authenticator app needs, to be shown once as text or as a picture of the URL. It counts only after its first code has come with `PUT`. Needs the password, so that nobody ties a browser left open to an app of their own.",
    problems: ["TOTP_ALREADY_ON", "PASSWORD_INCORRECT", "LOGIN_LOCKED"],
    body: Type.Object({ password: Password("The person's password.") }),
    requestExamples: { "the password": { password: "correct horse battery" } },
    response: Type.Object({
      secret: Type.String({ description: "To type into the app: base 32." }),
      otpauthUrl: Type.String({ description: "The same for a QR code." }),
    }),
    responseExample: {
      secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
      otpauthUrl:
        "otpauth://totp/Heliograph:admin%40localhost?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Heliograph&period=30&digits=6",
    },
    handle: beginTotp,
  },
  {
    ...ofTotp,
    method: "PUT",
    summary: "Switch on the second factor",
    description:
      "Shows that the app has the secret; from now on a login needs a code. Answers ten recovery codes, each good once in the place of a code, which are never shown again.",
    problems: ["TOTP_INCORRECT", "TOTP_ALREADY_ON"],
    body: Type.Object({ code: Code }),
    requestExamples: { "the first code": { code: "287082" } },
    response: Type.Object({
      recoveryCodes: Type.Array(Type.String(), { description: "Ten codes to keep somewhere safe." }),
    }),
    responseExample: { recoveryCodes: ["mfrg-g2dp-ojtw-6zdu"] },
    handle: confirmTotp,
  },
  {
    ...ofTotp,
    method: "DELETE",
    summary: "Switch off the second factor",
    description: "Needs the password and a code, so that a browser left open is not enough.",
    problems: ["RECORD_NOT_FOUND", "PASSWORD_INCORRECT", "TOTP_INCORRECT", "LOGIN_LOCKED"],
    body: Type.Object({
      password: Password("The person's password."),
      code: Type.String({ maxLength: 50, description: "A code of the app, or a recovery code." }),
    }),
    requestExamples: { both: { password: "correct horse battery", code: "287082" } },
    response: Type.Object({ totp: Type.Literal(false, { description: "Always false." }) }),
    responseExample: { totp: false },
    handle: deleteTotp,
  },
];
