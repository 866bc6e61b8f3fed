import {
  createTheme,
  defaultVariantColorsResolver,
  type CSSVariablesResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from "@mantine/core";
import { t } from "./i18n/t.ts";

type Shade = MantineColorsTuple;

/** Contrast of at least 4.5 to 1: shades from 7 on with white text, shades up to 4 with black text. */
const sun: Shade = ["#fff8eb", "#fdedd0", "#fbdba6", "#f7c574", "#f0b35c", "#e0913a", "#c2610c", "#9a4a00", "#7c3a02", "#5e2c05"]; // prettier-ignore
const green: Shade = ["#ecfdf5", "#d6f7e6", "#a7f3d0", "#7fdcb4", "#4cc893", "#17a673", "#0b8559", "#13683f", "#0f5434", "#0b3f28"]; // prettier-ignore
const red: Shade = ["#fef2f1", "#fde3e1", "#fbcbc7", "#f7a8a2", "#f28b82", "#e5534b", "#cf2e26", "#a8201a", "#8a1a15", "#6b1410"]; // prettier-ignore
const blue: Shade = ["#eff8fd", "#dceffa", "#b7def4", "#86c9ee", "#57b1e4", "#2590cd", "#0b76b0", "#0a5f8a", "#0a4c6e", "#083a54"]; // prettier-ignore
const yellow: Shade = ["#fffaeb", "#fdf1dc", "#fbe2b0", "#f0c070", "#e6a93d", "#cd8613", "#a86a08", "#8a4b00", "#6f3d02", "#553004"]; // prettier-ignore
const violet: Shade = ["#f6f3ff", "#ece6fd", "#d9cdfa", "#bfa9f5", "#a78bee", "#8660de", "#6f43cb", "#5b2fb0", "#4a2690", "#391d70"]; // prettier-ignore
const gray: Shade = ["#faf8f5", "#f3efe9", "#e9e4dc", "#d8d0c4", "#b9b0a3", "#857b6e", "#6b6256", "#564e44", "#3a342d", "#1e1a15"]; // prettier-ignore
const dark: Shade = ["#ece7df", "#cfc7bb", "#a89f93", "#7d756a", "#423d36", "#2c2925", "#201e1a", "#171512", "#100f0d", "#0b0a09"]; // prettier-ignore

const COLORS = { sun, green, red, blue, yellow, violet, gray, dark };

const SANS =
  'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif';
const MONO = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace';

/**
 * In the dark scheme, filled elements are bright with dark text. Mantine would use one text colour for both schemes.
 */
function filledInBothSchemes(input: Parameters<VariantColorsResolver>[0]): ReturnType<VariantColorsResolver> {
  const resolved = defaultVariantColorsResolver(input);
  return input.variant === "filled" ? { ...resolved, color: "var(--mantine-primary-color-contrast)" } : resolved;
}

/** A dialogue's `header` element would count as a second banner of the page. */
const DIALOGUE = { closeButtonProps: { "aria-label": t("Close") }, attributes: { header: { role: "presentation" } } };

/** The theme, with the colours of the API reference at /docs. Do not use other colours. */
export const theme = createTheme({
  colors: COLORS,
  primaryColor: "sun",
  primaryShade: { light: 7, dark: 4 },
  variantColorResolver: filledInBothSchemes,
  black: "#1e1a15",
  fontFamily: SANS,
  fontFamilyMonospace: MONO,
  headings: { fontFamily: SANS, fontWeight: "650" },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Badge: { defaultProps: { variant: "light", radius: "sm", tt: "none", fw: 600, miw: "max-content" } },
    Anchor: { defaultProps: { underline: "always" } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, events: { hover: true, focus: true, touch: true } } },
    Paper: { defaultProps: { withBorder: true, p: "lg" } },
    Loader: { defaultProps: { type: "dots" } },
    Modal: { defaultProps: { centered: true, ...DIALOGUE } },
    Drawer: { defaultProps: DIALOGUE },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": t("Close") } } },
    // Mantine's focus placeholder is not a permitted child of the `menu` role.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Alert: { defaultProps: { variant: "light" } },
  },
});

/** Dimmed text and light badges with a contrast of at least 4.5 to 1, which Mantine's defaults lack. */
export const cssVariables: CSSVariablesResolver = () => {
  const light: Record<string, string> = {
    "--mantine-color-dimmed": "#625a4f",
    "--mantine-color-placeholder": "#6b6256",
    "--mantine-color-error": red[7],
    "--mantine-color-anchor": sun[7],
    "--mantine-color-default-border": gray[3],
    "--mantine-primary-color-contrast": "#ffffff",
    "--heliograph-wash": gray[0],
    "--heliograph-line": gray[2],
    "--heliograph-screen": "#f6f2ec",
    "--heliograph-bubble": "#ffffff",
  };
  const darkOnes: Record<string, string> = {
    "--mantine-color-dimmed": dark[2],
    "--mantine-color-placeholder": "#a1988c",
    "--mantine-color-error": red[3],
    "--mantine-color-anchor": sun[4],
    "--mantine-color-default-border": dark[4],
    "--mantine-primary-color-contrast": gray[9],
    "--heliograph-wash": dark[8],
    "--heliograph-line": dark[5],
    "--heliograph-screen": "#12110f",
    "--heliograph-bubble": dark[5],
  };
  for (const [name, shades] of Object.entries(COLORS)) {
    if (name === "dark") continue;
    light[`--mantine-color-${name}-light`] = shades[1];
    light[`--mantine-color-${name}-light-hover`] = shades[2];
    light[`--mantine-color-${name}-light-color`] = shades[8];
    light[`--mantine-color-${name}-outline`] = shades[7];
    light[`--mantine-color-${name}-text`] = shades[7];
    darkOnes[`--mantine-color-${name}-light`] = `color-mix(in srgb, ${shades[6]} 26%, ${dark[7]})`;
    darkOnes[`--mantine-color-${name}-light-hover`] = `color-mix(in srgb, ${shades[6]} 36%, ${dark[7]})`;
    darkOnes[`--mantine-color-${name}-light-color`] = shades[2];
    darkOnes[`--mantine-color-${name}-outline`] = shades[3];
    darkOnes[`--mantine-color-${name}-text`] = shades[3];
  }
  return { variables: {}, light, dark: darkOnes };
};
