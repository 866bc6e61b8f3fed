import { Stack, Switch, Textarea, TextInput } from "@mantine/core";
import type { OwnInputProps } from "../../parts/record/field.ts";

interface Tls {
  ca: string | null;
  servername: string | null;
  cert: string | null;
}

const USUAL: Tls = { ca: null, servername: null, cert: null };

/** Whether a line is encrypted, and which certificates count; null speaks in the clear. */
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
            label="Certificates to trust"
            description="In PEM; none for the usual ones."
            {...pem}
            {...common("ca")}
          />
          <TextInput
            label="Name in the carrier's certificate"
            description="Where it is not the host."
            {...common("servername")}
          />
          <Textarea
            label="Our certificate"
            description="In PEM, where the carrier asks for one; its key is below More settings."
            {...pem}
            {...common("cert")}
          />
        </>
      )}
    </Stack>
  );
}
