import "@mantine/core/styles.layer.css";
import "./styles.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { styleNonce } from "./base.ts";

// Mantine's scroll lock reads the nonce of its style element from this global.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() });

const root = document.querySelector("#root");
if (!root) throw new Error("The page has no place for the dashboard.");
createRoot(root).render(<App />);
