import { Button, Tooltip, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithoutRef } from "react";
import { t } from "../i18n/t.ts";
import { useMay } from "../session.tsx";
import { ConfirmButton } from "./confirm-button.tsx";

export type Right = "write" | "own";

/** Why somebody cannot do something, for who wonders. */
const REASONS: Readonly<Record<Right, string>> = {
  write: t("Your role (viewer) is read-only. Members and owners can do this."),
  own: t("Only an owner can do this."),
};

/** Why whoever looks at this page may not do something; null when they may. */
export function useWhyNot(may: Right): string | null {
  return useMay(may) ? null : REASONS[may];
}

interface Props extends ButtonProps, Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps> {
  /** What it takes to press it. */
  may?: Right;
  /** Why it cannot be pressed now, for other reasons. */
  whyNot?: string | null;
}

/** A button that says why, where it cannot be pressed; it stays reachable by keyboard, so that everybody can read the reason. */
export function GuardedButton({ may = "write", whyNot = null, onClick, ...button }: Props) {
  const refused = useWhyNot(may) ?? whyNot;
  if (refused === null) return <Button {...button} onClick={onClick} />;
  return (
    <Tooltip label={refused}>
      <Button {...button} type="button" data-disabled aria-disabled />
    </Tooltip>
  );
}

type ConfirmProps = Parameters<typeof ConfirmButton>[0] & Pick<Props, "may" | "whyNot">;

/** The same for what asks first. */
export function GuardedConfirm({ may = "write", whyNot = null, ...confirm }: ConfirmProps) {
  const refused = useWhyNot(may) ?? whyNot;
  if (refused === null) return <ConfirmButton {...confirm} />;
  const { question: _question, consequence: _consequence, yes: _yes, run: _run, ...button } = confirm;
  return <GuardedButton variant="default" {...button} may={may} whyNot={whyNot} />;
}
