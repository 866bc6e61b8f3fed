import { curlOf, requestOf, type Asked, type SampleHeader } from "./curl.ts";

/** A request in one language. */
export interface Sample {
  id: string;
  language: string;
  code: string;
}

/** The same request in every language, with only what the language brings along. */
export const samplesOf = (asked: Asked): Sample[] => [
  { id: "curl", language: "curl", code: curlOf(asked) },
  { id: "typescript", language: "TypeScript, JavaScript", code: typescriptOf(asked) },
  { id: "python", language: "Python", code: pythonOf(asked) },
  { id: "php", language: "PHP", code: phpOf(asked) },
  { id: "go", language: "Go", code: goOf(asked) },
];

const pretty = (body: unknown, indent: number): string => JSON.stringify(body, null, indent);

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);

/** A value that is text before a variable, as an expression: `"Bearer " + key`. */
const joined = ({ text, variable }: SampleHeader, read: (name: string) => string, plus: string, quote = '"'): string =>
  [text === "" && variable !== null ? [] : `${quote}${text}${quote}`, variable === null ? [] : read(variable)]
    .flat()
    .join(plus);

function typescriptOf(asked: Asked): string {
  const { method, url, headers, body } = requestOf(asked);
  const read = (name: string): string => `env.${name} ?? ""`;
  const readInSum = (name: string): string => `(${read(name)})`;
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0
      ? []
      : [
          "  headers: {",
          ...headers.map(
            (header) => `    "${header.name}": ${joined(header, header.text === "" ? read : readInSum, " + ")},`,
          ),
          "  },",
        ]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(pretty(body, 2), "  ")}),`]),
  ];
  const call = options.length === 0 ? JSON.stringify(url) : [`${JSON.stringify(url)}, {`, ...options, "}"].join("\n");
  return [
    ...(headers.some(({ variable }) => variable !== null) ? ['import { env } from "node:process";', ""] : []),
    `const response = await fetch(${call});`,
    "console.log(response.status, await response.text());",
  ].join("\n");
}

const PYTHON_LITERALS: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

/** JSON differs from Python in three literals. */
const pythonLiteral = (body: unknown): string =>
  pretty(body, 4).replaceAll(/"(?:\\.|[^"\\])*"|\b(?:true|false|null)\b/g, (token) => PYTHON_LITERALS[token] ?? token);

function pythonOf(asked: Asked): string {
  const { method, url, headers, body } = requestOf(asked);
  return [
    ...(body === undefined ? [] : ["import json"]),
    ...(headers.some(({ variable }) => variable !== null) ? ["import os"] : []),
    "import urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${JSON.stringify(url)},`,
    `    method="${method}",`,
    ...(headers.length === 0
      ? []
      : [
          "    headers={",
          ...headers.map(
            (header) => `        "${header.name}": ${joined(header, (name) => `os.environ["${name}"]`, " + ")},`,
          ),
          "    },",
        ]),
    ...(body === undefined ? [] : [`    data=json.dumps(${indented(pythonLiteral(body), "    ")}).encode(),`]),
    ")",
    "with urllib.request.urlopen(request) as response:",
    "    print(response.status, response.read().decode())",
  ].join("\n");
}

const phpText = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

function phpOf(asked: Asked): string {
  const { method, url, headers, body } = requestOf(asked);
  return [
    "<?php",
    // A nowdoc text keeps every character of the JSON as it is.
    ...(body === undefined ? [] : ["$body = <<<'JSON'", pretty(body, 2), "JSON;"]),
    `$curl = curl_init(${phpText(url)});`,
    "curl_setopt_array($curl, [",
    `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    "    CURLOPT_RETURNTRANSFER => true,",
    ...(headers.length === 0
      ? []
      : [
          "    CURLOPT_HTTPHEADER => [",
          ...headers.map(
            ({ name, text, variable }) =>
              `        ${joined({ name, text: `${name}: ${text}`, variable }, (key) => `getenv('${key}')`, " . ", "'")},`,
          ),
          "    ],",
        ]),
    ...(body === undefined ? [] : ["    CURLOPT_POSTFIELDS => $body,"]),
    "]);",
    "$answer = curl_exec($curl);",
    "echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;",
  ].join("\n");
}

/** A raw string of Go ends at a backquote, and has no escape for it. */
const goText = (text: string): string => `\`${text.replaceAll("`", '` + "`" + `')}\``;

function goOf(asked: Asked): string {
  const { method, url, headers, body } = requestOf(asked);
  const packages = [
    "fmt",
    "io",
    "net/http",
    ...(headers.some(({ variable }) => variable !== null) ? ["os"] : []),
    ...(body === undefined ? [] : ["strings"]),
  ];
  const check = ["\tif err != nil {", "\t\tpanic(err)", "\t}"];
  return [
    "package main",
    "",
    "import (",
    ...packages.map((name) => `\t"${name}"`),
    ")",
    "",
    "func main() {",
    ...(body === undefined ? [] : [`\tbody := strings.NewReader(${goText(pretty(body, 2))})`]),
    `\trequest, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${body === undefined ? "nil" : "body"})`,
    ...check,
    ...headers.map(
      (header) => `\trequest.Header.Set("${header.name}", ${joined(header, (name) => `os.Getenv("${name}")`, "+")})`,
    ),
    "\tresponse, err := http.DefaultClient.Do(request)",
    ...check,
    "\tdefer response.Body.Close()",
    "\tanswer, err := io.ReadAll(response.Body)",
    ...check,
    "\tfmt.Println(response.StatusCode, string(answer))",
    "}",
  ].join("\n");
}
