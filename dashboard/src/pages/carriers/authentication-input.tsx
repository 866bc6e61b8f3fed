import { Fieldset, Group, Stack, Text, TextInput } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";

type Authentication = Readonly<Record<"header" | "scheme", string>>;

/** The header of the token and the prefix before the token. */
export function AuthenticationInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const authentication = value as Authentication;
  const common = (name: keyof Authentication) => ({
    value: authentication[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...authentication, [name]: currentTarget.value }),
    error: faultAt(`authentication.${name}`),
    disabled,
    autoComplete: "off",
  });
  return (
    <Fieldset legend={label}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
        <Group grow align="flex-start">
          <TextInput label={t("Header")} {...common("header")} />
          <TextInput label={t("Token prefix")} placeholder={t("None")} {...common("scheme")} />
        </Group>
      </Stack>
    </Fieldset>
  );
}
