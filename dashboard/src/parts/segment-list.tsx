import { Text } from "@mantine/core";
import { t } from "../i18n/t.ts";
import classes from "./segment-list.module.css";

/** The segments of a text, each with its number. */
export function SegmentList({ segments }: { segments: readonly { text: string }[] }) {
  return (
    <ol className={classes.list}>
      {segments.map(({ text }, index) => (
        <li key={`${index}-${text.slice(0, 8)}`} className={classes.segment}>
          <Text
            size="xs"
            fw={700}
            component="span"
            className={classes.number}
            aria-label={t("Part {number}", { number: index + 1 })}
          >
            {index + 1}
          </Text>
          <span>{text}</span>
        </li>
      ))}
    </ol>
  );
}
