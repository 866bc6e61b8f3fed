import { Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";

interface Tls {
  ca: string | null;
  servername: string | null;
  cert: string | null;
}

const USUAL: Tls = { ca: null, servername: null, cert: null };

/** TLS settings with the trusted certificates; null for an unencrypted connection. */
export function TlsInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const tls = value as Tls | null;
  const common = (name: keyof Tls) => ({
    value: tls?.[name] ?? "",
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...USUAL, ...tls, [name]: currentTarget.value || null }),
    error: faultAt(`tls.${name}`),
    disabled,
  });
  const pem = { placeholder: "-----BEGIN CERTIFICATE-----", autosize: true, minRows: 2, maxRows: 8 };
  return (
    <Stack gap="sm">
      <Switch
        label={label}
        description={hint}
        checked={tls !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? USUAL : null)}
        disabled={disabled}
        error={faultAt("tls")}
      />
      {tls !== null && (
        <>
          <Textarea
            label={t("CA certificates")}
            description={t("PEM. Leave empty to trust the public CAs.")}
            {...pem}
            {...common("ca")}
          />
          <TextInput
            label={t("Certificate host name")}
            description={t("If it differs from the host.")}
            {...common("servername")}
          />
          <Textarea
            label={t("Client certificate")}
            description={t("PEM, if your carrier requires one. Its key is under More settings.")}
            {...pem}
            {...common("cert")}
          />
        </>
      )}
    </Stack>
  );
}
