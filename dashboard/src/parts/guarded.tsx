import { Button, Tooltip, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithoutRef } from "react";
import { t } from "../i18n/t.ts";
import { useMay } from "../session.tsx";
import { ConfirmButton } from "./confirm-button.tsx";

export type Right = "write" | "own";

/** Tooltips of actions that the user's role does not permit. */
const REASONS: Readonly<Record<Right, string>> = {
  write: t("Your role (viewer) is read-only. Members and owners can do this."),
  own: t("Only an owner can do this."),
};

/** The reason why the user's role does not permit an action; null if it does. */
export function useWhyNot(may: Right): string | null {
  return useMay(may) ? null : REASONS[may];
}

interface Props extends ButtonProps, Omit<ComponentPropsWithoutRef<"button">, keyof ButtonProps> {
  /** The required right. */
  may?: Right;
  /** Another reason why the button is disabled; null if it is enabled. */
  whyNot?: string | null;
}

/** A button that explains in a tooltip why it is disabled. It stays focusable, so keyboard users get the reason too. */
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

/** `GuardedButton` with a confirmation. */
export function GuardedConfirm({ may = "write", whyNot = null, ...confirm }: ConfirmProps) {
  const refused = useWhyNot(may) ?? whyNot;
  if (refused === null) return <ConfirmButton {...confirm} />;
  const { question: _question, consequence: _consequence, yes: _yes, run: _run, ...button } = confirm;
  return <GuardedButton variant="default" {...button} may={may} whyNot={whyNot} />;
}
