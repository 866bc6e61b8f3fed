import { Anchor, Text } from "@mantine/core";
import { Link } from "wouter";
import { ownUrl } from "../base.ts";
import { t } from "../i18n/t.ts";

export interface Failure {
  code: string | null;
  description: string | null;
  carrierCode: boolean;
  count: number;
}

/** An error code with its description. Our codes link to their reference page. */
export const FailureReason = ({ code, description, carrierCode }: Failure) => (
  <>
    {description !== null && !carrierCode ? (
      <Anchor href={ownUrl(`/docs/errors/${code}`)} target="_blank" size="sm">
        {code}
      </Anchor>
    ) : (
      <Anchor component={Link} href="/messages?status=Failed" size="sm">
        {code ?? t("No code")}
      </Anchor>
    )}
    {description !== null && (
      <Text size="xs" c="dimmed">
        {description}
      </Text>
    )}
  </>
);
