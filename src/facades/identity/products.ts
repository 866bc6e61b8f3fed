import { CUSTOM_CODE } from "../../model/verify-bodies.ts";
import type { IdentityHookSettings, IdentityProduct } from "../../model/identity-hook.ts";
import type { Problem } from "../../model/problem.ts";
import type { FacadeReply } from "../../http/facade.ts";
import { codeInText, refuseVoice, required, textIn, within, type Payload, type ForeignCode } from "./read-payload.ts";
import { presentedSecret, standardWebhooks, zitadelSignature, type SecretCheck } from "./verify-secret.ts";

/** The form of one product's calls. docs/identity.md names the source of each. */
export interface ProductForm {
  isGenuine: SecretCheck;
  read(payload: Payload, settings: IdentityHookSettings): ForeignCode;
  succeed(verifyId: string): FacadeReply;
  /** Renders a refusal so that the product shows its message, or logs it where it shows none. */
  fail(problem: Problem, message: string): FacadeReply;
}

const json = (status: number, value: object): FacadeReply => ({
  status,
  contentType: "application/json",
  text: JSON.stringify(value),
});

const done = (): FacadeReply => json(200, {});
const failWithMessage: ProductForm["fail"] = ({ status, code }, message) => json(status, { code, message });

/** The fields in which Kratos has a code, by the kind of its template. */
const KRATOS_CODES = ["code", "login_code", "registration_code", "verification_code", "recovery_code"] as const;

/** Supabase reads the error only from a response with status 200; of any other it shows a status and no message. */
const SHOWN_BY_SUPABASE: ReadonlySet<string> = new Set([
  "OTP_SEND_LIMIT",
  "INVALID_RECIPIENT",
  "COUNTRY_NOT_ALLOWED",
  "RECIPIENT_BLOCKED",
  "RECIPIENT_OPTED_OUT",
  "INSUFFICIENT_CREDITS",
]);

export const PRODUCTS: Readonly<Record<IdentityProduct, ProductForm>> = {
  supabase: {
    isGenuine: standardWebhooks,
    read: (payload) => ({
      // A change of the number is confirmed on the new one.
      to: required(textIn(within(payload, "sms"), "phone") ?? textIn(within(payload, "user"), "phone"), "user.phone"),
      code: required(textIn(within(payload, "sms"), "otp"), "sms.otp"),
      locale: null,
    }),
    succeed: done,
    fail: ({ status, code }, message) =>
      json(SHOWN_BY_SUPABASE.has(code) ? 200 : status, { error: { http_code: status, message } }),
  },
  zitadel: {
    isGenuine: zitadelSignature,
    read: (payload, settings) => {
      const code = textIn(within(payload, "args"), "code", "oTP", "otp", "OTP", "Code");
      const text = textIn(within(payload, "templateData"), "text", "Text");
      return {
        to: required(
          textIn(within(payload, "contextInfo"), "recipientPhoneNumber"),
          "contextInfo.recipientPhoneNumber",
        ),
        code: code ?? codeInText(required(text, "args.code"), "templateData.text", settings),
        locale: textIn(within(payload, "args"), "preferredLanguage"),
      };
    },
    succeed: done,
    fail: failWithMessage,
  },
  authentik: {
    isGenuine: presentedSecret,
    read: (payload, settings) => {
      const body = textIn(payload, "code", "Body", "body");
      const own = body !== null && CUSTOM_CODE.test(body) ? body : null;
      const text = body ?? textIn(payload, "Message", "message", "text");
      return {
        to: required(textIn(payload, "To", "to"), "To"),
        code: own ?? codeInText(required(text, "Body"), "Body", settings),
        locale: null,
      };
    },
    succeed: () => ({ status: 200, contentType: "text/plain; charset=utf-8", text: "OK" }),
    fail: ({ status }, message) => ({ status, contentType: "text/plain; charset=utf-8", text: message }),
  },
  logto: {
    isGenuine: presentedSecret,
    read: (payload) => ({
      to: required(textIn(payload, "to"), "to"),
      code: required(textIn(within(payload, "payload"), "code"), "payload.code"),
      locale: textIn(within(payload, "payload"), "locale"),
    }),
    succeed: done,
    fail: failWithMessage,
  },
  kratos: {
    isGenuine: presentedSecret,
    read: (payload, settings) => {
      const code = textIn(within(payload, "template_data"), ...KRATOS_CODES) ?? textIn(payload, "code");
      return {
        to: required(textIn(payload, "recipient", "to"), "recipient"),
        code: code ?? codeInText(required(textIn(payload, "body"), "template_data"), "body", settings),
        locale: null,
      };
    },
    succeed: done,
    fail: ({ status, code }, message) => json(status, { error: { code: status, id: code, message } }),
  },
  auth0: {
    isGenuine: presentedSecret,
    read: (payload) => {
      refuseVoice(textIn(payload, "delivery_method"), "delivery_method");
      return {
        to: required(textIn(payload, "recipient"), "recipient"),
        code: required(textIn(payload, "code"), "code"),
        locale: textIn(payload, "locale"),
      };
    },
    succeed: (id) => json(200, { id }),
    fail: failWithMessage,
  },
  okta: {
    isGenuine: presentedSecret,
    read: (payload) => {
      const profile = within(payload, "data", "messageProfile");
      refuseVoice(textIn(profile, "deliveryChannel"), "data.messageProfile.deliveryChannel");
      return {
        to: required(textIn(profile, "phoneNumber"), "data.messageProfile.phoneNumber"),
        code: required(textIn(profile, "otpCode"), "data.messageProfile.otpCode"),
        locale: textIn(profile, "locale"),
      };
    },
    succeed: (transactionId) =>
      json(200, {
        commands: [
          {
            type: "com.okta.telephony.action",
            value: [{ status: "SUCCESSFUL", provider: "Heliograph", transactionId }],
          },
        ],
      }),
    fail: ({ status }, message) => json(status, { error: { errorSummary: message } }),
  },
  fusionauth: {
    isGenuine: presentedSecret,
    read: (payload, settings) => ({
      to: required(textIn(payload, "phoneNumber"), "phoneNumber"),
      code:
        textIn(payload, "code") ??
        codeInText(required(textIn(payload, "textMessage", "message"), "textMessage"), "textMessage", settings),
      locale: null,
    }),
    succeed: done,
    fail: failWithMessage,
  },
};
