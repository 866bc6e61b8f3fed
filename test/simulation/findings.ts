export interface Violation {
  rule: string;
  detail: string;
}

/** Reports a violation of a rule. Every rule that is looked at is counted. */
export class Findings {
  readonly violations: Violation[] = [];
  /** Checks of each rule. */
  readonly looks = new Map<string, number>();

  /** Looks at a rule: `detail` explains a violation. */
  expect(rule: string, holds: boolean, detail: () => string): void {
    this.looks.set(rule, (this.looks.get(rule) ?? 0) + 1);
    if (!holds) this.violations.push({ rule, detail: detail() });
  }
}
