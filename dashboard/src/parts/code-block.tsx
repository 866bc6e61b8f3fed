import { Group, Text } from "@mantine/core";
import { t } from "../i18n/t.ts";
import { CopyButton } from "./copy-button.tsx";
import classes from "./code-block.module.css";

interface Props {
  code: string;
  /** Title of the block, such as "The same as curl". */
  heading?: string;
  /** Text to copy if it differs from the visible one, such as a key that is shown in part. */
  copied?: string;
}

/** Code with a copy button. */
export function CodeBlock({ code, heading = t("Code"), copied }: Props) {
  return (
    <figure className={classes.figure}>
      <Group justify="space-between" className={classes.head} component="figcaption" wrap="nowrap">
        <Text size="xs" fw={600} c="dimmed" component="span">
          {heading}
        </Text>
        <CopyButton value={copied ?? code} label={t("Copy")} />
      </Group>
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={heading}>
        <pre className={classes.pre}>
          <code>{code}</code>
        </pre>
      </div>
    </figure>
  );
}
