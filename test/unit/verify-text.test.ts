import { describe, expect, test } from "vitest";
import { DEFAULT_VERIFY_CONFIG } from "../../src/model/verify-config.ts";
import { readLocale } from "../../src/model/locale.ts";
import { renderOtp } from "../../src/otp/render.ts";

describe("the text of a one-time password", () => {
  test.each([
    [59, "1 minute."],
    [60, "1 minute."],
    [119, "1 minute."],
    [120, "2 minutes."],
    [660, "11 minutes."],
  ])("with a life of %i seconds says it is valid for %s", (lifeSeconds, end) => {
    const text = renderOtp({ ...DEFAULT_VERIFY_CONFIG, lifeSeconds }, "123456", null);
    expect(text).toBe(`123456 is your verification code. It is valid for ${end}`);
  });

  test("keeps a code that looks like a placeholder", () => {
    expect(renderOtp({ ...DEFAULT_VERIFY_CONFIG, text: "{code} {minutes}" }, "{minutes}", null)).toBe("{minutes} 5");
  });

  test.each([
    ["pt-br", "pt-BR {code}"],
    ["pt-br-x-shop", "pt-BR {code}"],
    ["pt", "pt {code}"],
    ["pt-pt", "pt {code}"],
    ["hi", "hi {code}"],
    ["hi-latn-in", "hi {code}"],
    ["de", "{code} own"],
    [null, "{code} own"],
  ])("in the language %s is the nearest one: %s", (locale, text) => {
    const texts = { "pt-BR": "pt-BR {code}", pt: "pt {code}", hi: "hi {code}" };
    const config = { ...DEFAULT_VERIFY_CONFIG, text: "{code} own", texts };
    expect(renderOtp(config, "7392", locale)).toBe(text.replace("{code}", "7392"));
  });

  test("in another language keeps the lines of autofill at its end", () => {
    const lines = { appHash: "FA+9qCX9VSu", webOtpDomain: "example.com" };
    const config = { ...DEFAULT_VERIFY_CONFIG, ...lines, texts: { hi: "{code} आपका कोड है।" } };
    expect(renderOtp(config, "7392", "hi")).toBe("7392 आपका कोड है।\nFA+9qCX9VSu\n@example.com #7392");
  });

  test.each([
    ["PT_br", "pt-br"],
    ["EN-US", "en-us"],
    ["p", null],
    ["pt--BR", null],
    ["../pt", null],
    ["x".repeat(40), null],
  ])("reads the language %j as %j", (written, locale) => {
    expect(readLocale(written)).toBe(locale);
  });
});
