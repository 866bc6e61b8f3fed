import { Component, type ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { ErrorState } from "./error-state.tsx";

/** Error boundary: an exception in one page does not affect the others. */
export class PageFault extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <ErrorState title={t("This page has an error")} error={error} retry={() => location.reload()} />;
  }
}
