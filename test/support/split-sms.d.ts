declare module "split-sms" {
  export interface SplitPart {
    content: string | undefined;
    length: number;
    bytes: number;
  }

  export interface SplitResult {
    characterSet: "GSM" | "Unicode";
    parts: SplitPart[];
    /** Septets for GSM, octets for Unicode. */
    bytes: number;
    length: number;
    remainingInPart: number;
  }

  export function split(
    message: string,
    options?: { summary?: boolean; characterset?: "GSM" | "Unicode" },
  ): SplitResult;
}
