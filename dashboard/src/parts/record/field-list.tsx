import { Collapse, Group, Stack, Title, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Fragment, type ReactNode } from "react";
import { t } from "../../i18n/t.ts";
import { FieldInput } from "./field-input.tsx";
import { ADVANCED, faultOf, fieldsAsked, type Field, type OwnInputProps, type Values } from "./field.ts";

interface Props {
  fields: readonly Field[];
  values: Values;
  set: (name: string, value: unknown) => void;
  faultAt: OwnInputProps["faultAt"];
  isDisabled: (field: Field) => boolean;
}

/** The inputs of a record's visible fields, with rarely changed ones in a collapsible section. */
export function FieldList({ fields, values, set, faultAt, isDisabled }: Props) {
  const asked = fieldsAsked(fields, values);
  const folds = [true, ADVANCED] as const;
  const input = (field: Field): ReactNode => (
    <FieldInput
      key={field.name}
      field={field}
      values={values}
      set={set}
      faultAt={faultAt}
      disabled={isDisabled(field)}
    />
  );
  return (
    <>
      {asked
        .filter(({ more }) => !more)
        .map((field, index, shown) => (
          <Fragment key={field.name}>
            {field.section !== undefined && field.section !== shown[index - 1]?.section && (
              <Title order={2} size="h4" mt={index === 0 ? 0 : "lg"}>
                {field.section}
              </Title>
            )}
            {input(field)}
          </Fragment>
        ))}
      {folds.map((fold) => {
        const further = asked.filter(({ more }) => more === fold);
        if (further.length === 0) return null;
        const title = fold === true ? t("More settings") : t("Advanced");
        return (
          <Fold key={title} title={title} forced={further.some((field) => faultOf(field, faultAt) !== undefined)}>
            {further.map(input)}
          </Fold>
        );
      })}
    </>
  );
}

/** A collapsible section, which opens by itself if one of its fields has an error. */
function Fold({ title, forced, children }: { title: string; forced: boolean; children: ReactNode }) {
  const [opened, { toggle }] = useDisclosure(false);
  const open = opened || forced;
  const Icon = open ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <UnstyledButton onClick={toggle} aria-expanded={open} c="dimmed" fz="sm" fw={600} mb="sm">
        <Group gap={6}>
          <Icon size={16} aria-hidden />
          {title}
        </Group>
      </UnstyledButton>
      <Collapse expanded={open}>
        <Stack gap="md">{children}</Stack>
      </Collapse>
    </div>
  );
}
