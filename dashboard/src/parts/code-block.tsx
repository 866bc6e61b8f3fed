import { Group, Text } from "@mantine/core";
import { t } from "../i18n/t.ts";
import { CopyButton } from "./copy-button.tsx";
import classes from "./code-block.module.css";

interface Props {
  code: string;
  /** What it is, above it: "The same as curl". */
  heading?: string;
  /** What is copied where that is not what is shown, such as a key that is shown in part. */
  copied?: string;
}

/** Text for a terminal or a program, with a button that copies it. */
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
