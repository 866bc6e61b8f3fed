import { t } from "../../i18n/t.ts";
/** API path of the configuration. */
export const SET_UP = "/api/config";

interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

interface PlannedRecord {
  part: string;
  channel?: string;
  name: string;
}

/** The changes that applying a file would make. */
export interface SetUpPlan {
  applied: boolean;
  settings: readonly FieldChange[];
  made: readonly PlannedRecord[];
  changed: readonly (PlannedRecord & { fields: readonly FieldChange[] })[];
  removed: readonly PlannedRecord[];
  same: readonly PlannedRecord[];
}

export const isNothing = ({ settings, made, changed, removed }: SetUpPlan): boolean =>
  settings.length + made.length + changed.length + removed.length === 0;

/** Parses a configuration file. A syntax error names its position. */
export function readSetUp(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    throw new Error(t("Invalid JSON: {message}.", { message: (fault as Error).message }), { cause: fault });
  }
}
