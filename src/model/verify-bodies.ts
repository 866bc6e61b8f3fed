import { readAddress } from "../email/address.ts";
import { isUuid } from "../lib/ids.ts";
import { Type } from "../lib/schema.ts";
import { isPlainText } from "../lib/text.ts";
import { readLocale } from "./locale.ts";
import { SOURCE_NAME } from "./verification.ts";

const CONFIG_ID_MAX = 100;
const OTP_MAX = 40;

/** The form of a code that the caller chose. */
export const CUSTOM_CODE = /^[0-9A-Za-z]{4,10}$/;
const CODE_RULE = "Give code as a string of 4 to 10 letters and digits; leave it out and one is generated.";
const SOURCE_RULE = "source is a name of 1 to 40 small letters, digits and dashes, such as better-auth.";
const LOCALE_RULE = "locale is a language tag such as hi or pt-BR.";
const EMAIL_MAX = 254;
const EMAIL_RULE = "email is one e-mail address without a name, such as ada@example.com.";
const MODE_RULE = 'mode is "deliver", for a code that your own product checks, or left out.';

export const configIdRule = (parameter: string): string =>
  `Give ${parameter} as a string of 1 to ${CONFIG_ID_MAX} characters: the name or the id of a verification configuration.`;

const configId = (description: string) => {
  const isName = (value: string): boolean =>
    value.length <= CONFIG_ID_MAX && isPlainText(value) && value === value.trim();
  return Type.String({
    minLength: 1,
    maxLength: CONFIG_ID_MAX,
    description,
    error: configIdRule,
    check: (value) => (isName(value) ? null : configIdRule),
  });
};

const TO_REQUIRED = "Give the recipient as a string: one phone number.";

/** The body of `POST /v1/verify`. */
export const generateBody = Type.Object(
  {
    configId: Type.Optional(
      configId("The name or the id of the verification configuration. Required, under this name or the next."),
    ),
    "config-id": Type.Optional(configId("Another name for `configId`.")),
    to: Type.String({
      format: "phone",
      description: "Phone number: country code first, 7 to 15 digits, plus optional.",
      error: TO_REQUIRED,
      check: (value) => (value.trim() === "" ? TO_REQUIRED : null),
    }),
    email: Type.Optional(
      Type.String({
        format: "email",
        maxLength: EMAIL_MAX,
        description:
          "E-mail address of the same user, for configurations with the channel `email`. Without it that channel is skipped. A code that went by e-mail proves the address rather than the number.",
        error: EMAIL_RULE,
        check: (value) => (readAddress(value.trim()) === null ? EMAIL_RULE : null),
      }),
    ),
    code: Type.Optional(
      Type.String({
        pattern: CUSTOM_CODE.source,
        description: "A code of your own: 4 to 10 letters and digits. Needs the scope `verify:custom`.",
        error: CODE_RULE,
        check: (value) => (CUSTOM_CODE.test(value) ? null : CODE_RULE),
      }),
    ),
    mode: Type.Optional(
      Type.Literal("deliver", {
        description:
          "`deliver` for a `code` that your own product checks: report its outcome to `POST /v1/verify/{verifyId}/outcome`.",
        error: MODE_RULE,
      }),
    ),
    locale: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: 35,
        description: "Language of the user, such as pt-BR: chooses among the `texts` of the configuration.",
        error: LOCALE_RULE,
        check: (value) => (readLocale(value) === null ? LOCALE_RULE : null),
      }),
    ),
    source: Type.Optional(
      Type.String({
        pattern: SOURCE_NAME.source,
        description: "The product that made `code`, by which verifications can be filtered. Defaults to `api`.",
        error: SOURCE_RULE,
        check: (value) => (SOURCE_NAME.test(value) ? null : SOURCE_RULE),
      }),
    ),
  },
  { title: "VerifyRequest" },
);

const VERIFY_ID = "Give verifyId as it came in the data of the answer to /v1/verify.";
const OTP = "Give the code as a string, as the user typed it; a number would lose its leading zeros.";

/** The body of `POST /v1/verify/validate`. */
export const validateBody = Type.Object(
  {
    verifyId: Type.String({
      format: "uuid",
      description: "The `data` of the answer to `POST /v1/verify`.",
      error: VERIFY_ID,
      check: (value) => (isUuid(value.toLowerCase()) ? null : VERIFY_ID),
    }),
    otp: Type.String({
      minLength: 1,
      maxLength: OTP_MAX,
      description: "The code as the user typed it. Spaces, dashes and the case of letters do not count.",
      error: OTP,
      check: (value) => (value.trim() === "" || value.length > OTP_MAX ? OTP : null),
    }),
  },
  { title: "ValidateRequest" },
);

const OUTCOME_RULE = 'outcome is "used" or "not-used".';

/** The body of `POST /v1/verify/{verifyId}/outcome`. */
export const outcomeBody = Type.Object(
  {
    outcome: Type.Union([Type.Literal("used"), Type.Literal("not-used")], {
      description: "`used` if your product accepted the code, `not-used` if the user did not use it.",
      error: OUTCOME_RULE,
    }),
  },
  { title: "OutcomeRequest" },
);
