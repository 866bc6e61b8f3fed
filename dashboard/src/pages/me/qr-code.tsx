import encodeQR from "qr";
import classes from "./qr-code.module.css";

/** Width of the quiet zone in modules. Cameras need it to find the code. */
const QUIET = 2;

/** A QR code, drawn in the browser so that its secret reaches no other host. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, "raw", { border: QUIET, ecc: "medium" });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return (
    <svg
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      className={classes.code}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={rows.length} height={rows.length} className={classes.light} />
      <path d={path} className={classes.dark} />
    </svg>
  );
}
