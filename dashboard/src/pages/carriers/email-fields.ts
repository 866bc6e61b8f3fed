import { t } from "../../i18n/t.ts";
import type { Parts } from "../../parts/record/field.ts";
import { advanced, choice, number, secret } from "./line-fields.ts";
import { EMAIL_STARTS } from "./line-starts.ts";

/** Fields of a connection to a mail server: address and login first, rarely changed settings below. */
export const EMAIL_PARTS: Parts = {
  starts: EMAIL_STARTS,
  fields: [
    {
      name: "host",
      label: t("Host"),
      hint: t("Mail server that relays your e-mails."),
      input: { kind: "text", placeholder: "smtp.example.com" },
      required: true,
    },
    number("port", t("Port"), t("587 with STARTTLS, 465 with TLS."), 1, 65_535),
    choice("security", t("Encryption"), t("Certificates are always verified."), [
      ["starttls", "STARTTLS"],
      ["tls", "TLS"],
      ["none", t("None, for a relay of your own network")],
    ]),
    {
      name: "username",
      label: t("Username"),
      hint: t("Leave empty if the server requires no login."),
      input: { kind: "text" },
    },
    secret("password", t("Password"), t("Sent to this server only, after TLS.")),
    ...[
      {
        name: "ca",
        label: t("CA certificates"),
        hint: t("PEM. Leave empty to trust the public CAs."),
        input: { kind: "long", rows: 2 },
      } as const,
      {
        name: "servername",
        label: t("Certificate host name"),
        hint: t("If it differs from the host."),
        input: { kind: "text" },
      } as const,
      number("connections", t("Concurrent e-mails"), t("Per node."), 1, 100),
      number("timeoutSeconds", t("Timeout"), t("For one e-mail."), 1, 300, t("seconds")),
    ].map(advanced),
  ],
};
