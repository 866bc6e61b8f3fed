import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { IdentityProduct } from "../../src/model/identity-hook.ts";

/** A hook as its creation answers it. */
export interface Hook {
  id: string;
  url: string;
  secret: string;
}

interface Call {
  headers: Record<string, string>;
  body: string;
}

/** A call of a product, in the form that it documents or that its source code has. */
export interface IdentityCall {
  /** The document or source file that the payload was taken from. */
  source: string;
  payload(number: string, code: string): object;
  sign(secret: string, body: string, at: number): Record<string, string>;
}

const bearer: IdentityCall["sign"] = (secret) => ({ authorization: `Bearer ${secret}` });
const basic: IdentityCall["sign"] = (secret) => ({
  authorization: `Basic ${Buffer.from(`heliograph:${secret}`).toString("base64")}`,
});
const verbatim: IdentityCall["sign"] = (secret) => ({ authorization: secret });

export const IDENTITY_CALLS: Readonly<Record<IdentityProduct, IdentityCall>> = {
  supabase: {
    source: "https://supabase.com/docs/guides/auth/auth-hooks/send-sms-hook",
    // Supabase Auth stores numbers without plus.
    payload: (number, otp) => ({
      user: {
        id: "6481a5c1-3d37-4a56-9f6a-bee08c554965",
        aud: "authenticated",
        role: "authenticated",
        email: "",
        phone: number,
        phone_confirmed_at: "2024-05-13T11:52:48.157306Z",
        confirmation_sent_at: "2024-05-14T12:31:52.824573Z",
        confirmed_at: "2024-05-13T11:52:48.157306Z",
        phone_change_sent_at: "2024-05-13T11:47:02.183064Z",
        last_sign_in_at: "2024-05-13T11:52:48.162518Z",
        app_metadata: { provider: "phone", providers: ["phone"] },
        user_metadata: {},
        identities: [],
        created_at: "2024-05-13T11:45:33.7738Z",
        updated_at: "2024-05-14T12:31:52.82475Z",
        is_anonymous: false,
      },
      sms: { otp },
    }),
    sign: (secret, body, at) => {
      const id = `msg_${Math.random().toString(36).slice(2)}`;
      const signature = new Webhook(secret).sign(id, new Date(at), body);
      return {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(at / 1000)),
        "webhook-signature": signature,
      };
    },
  },
  zitadel: {
    source: "https://github.com/zitadel/zitadel internal/notification/types/user_phone.go and otp.go",
    payload: (number, code) => ({
      contextInfo: {
        eventType: "user.human.otp.sms.code.added",
        provider: { id: "285181292935381355", description: "Heliograph" },
        recipientPhoneNumber: `+${number}`,
      },
      templateData: {
        title: "Zitadel - Verify One-Time Password",
        preHeader: "Verify One-Time Password",
        subject: "Verify One-Time Password",
        greeting: "Hello GigiGiraffe,",
        text: `${code} is your one-time password for zitadel.example. Use it within the next 5m0s.`,
        buttonText: "Verify",
      },
      args: { domain: "zitadel.example", expiry: 300_000_000_000, oTP: code, origin: "https://zitadel.example" },
    }),
    sign: (secret, body, at) => {
      const time = Math.floor(at / 1000);
      const hex = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
      return { "zitadel-signature": `t=${time},v1=${hex}` };
    },
  },
  authentik: {
    source: "https://github.com/goauthentik/authentik authentik/stages/authenticator_sms/models.py, send_generic",
    payload: (number, code) => ({
      From: "authentik",
      To: `+${number}`,
      Body: code,
      Message: `Use this code to authenticate in authentik: ${code}`,
    }),
    sign: basic,
  },
  logto: {
    source: "https://www.npmjs.com/package/@logto/connector-http-sms lib/index.js, sendMessage",
    payload: (number, code) => ({ to: number, type: "SignIn", payload: { code, locale: "en" }, ip: "198.51.100.7" }),
    sign: verbatim,
  },
  kratos: {
    source: "https://www.ory.com/docs/kratos/emails-sms/sending-sms and the template of docs/identity.md",
    payload: (number, code) => ({
      recipient: `+${number}`,
      template_type: "login_code_valid",
      template_data: { to: `+${number}`, login_code: code, identity: { id: "a1b2", traits: { phone: `+${number}` } } },
      body: `Your login code is: ${code}`,
    }),
    sign: (secret) => ({ "x-api-key": secret }),
  },
  auth0: {
    source: "the Action of docs/identity.md, with the fields of https://auth0.com/docs/customize/actions",
    payload: (number, code) => ({
      recipient: `+${number}`,
      code,
      message_type: "otp_verify",
      delivery_method: "text",
      locale: "en",
    }),
    sign: bearer,
  },
  okta: {
    source: "https://developer.okta.com/docs/reference/telephony-hook/",
    payload: (number, otpCode) => ({
      eventId: "uS5871kJThSMU8qlA1LTcg",
      eventTime: "2024-01-17T21:21:39.000Z",
      eventType: "com.okta.telephony.provider",
      eventTypeVersion: "1.0",
      contentType: "application/json",
      cloudEventVersion: "0.1",
      source: "https://okta.example/api/v1/inlineHooks/cal3xf5cUHV4Ao7pv0g6",
      requestType: "com.okta.user.telephony.mfa-verification",
      data: {
        context: { request: { id: "ZahHqTbIhjYvF3xxJ0vHVwAABHQ", method: "POST", ipAddress: "198.51.100.7" } },
        userProfile: {
          firstName: "Test",
          lastName: "User",
          login: "test.user@okta.example",
          userId: "00uyxxSknGtK8022w0g3",
        },
        messageProfile: {
          msgTemplate: `Your code is ${otpCode}`,
          phoneNumber: `+${number}`,
          otpExpires: "2024-01-17T21:26:35.000Z",
          deliveryChannel: "SMS",
          otpCode,
          locale: "EN-US",
        },
      },
    }),
    sign: verbatim,
  },
  fusionauth: {
    source: "https://fusionauth.io/docs/customize/email-and-messages/generic-messenger",
    payload: (number, code) => ({
      type: "SMS",
      phoneNumber: `+1 ${number.slice(1, 4)}-${number.slice(4)}`,
      textMessage: `Two Factor Code: ${code}`,
    }),
    sign: basic,
  },
};

/** A complete call of a product, signed at a time. */
export function identityCall(
  product: IdentityProduct,
  { secret }: Pick<Hook, "secret">,
  payload: object,
  at: number,
): Call {
  const body = JSON.stringify(payload);
  const headers = IDENTITY_CALLS[product].sign(secret, body, at);
  return { headers: { "content-type": "application/json", ...headers }, body };
}
