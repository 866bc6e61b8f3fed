import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Deployment } from "kubernetes-models/apps/v1";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { readConfig, unknownSettings } from "../../src/config.ts";
import { canTestWith, inPath } from "../support/programmes.ts";

const ROOT = join(import.meta.dirname, "../..");
const GO_SOURCES = "/usr/share/gocode";
const run = promisify(execFile);

const go = existsSync(join(GO_SOURCES, "src/github.com/Masterminds/sprig")) ? inPath("go") : undefined;
const canRender = canTestWith(
  go,
  "golang-go, golang-github-masterminds-sprig-dev and golang-gopkg-yaml.v3-dev of Debian",
);

const MODELS = { Deployment, PodDisruptionBudget, Service, Ingress };

interface Rendered {
  kind: keyof typeof MODELS;
  metadata: { name: string };
  spec: unknown;
}

interface DeploymentSpec {
  template: {
    metadata: { labels: Record<string, string> };
    spec: {
      terminationGracePeriodSeconds: number;
      containers: {
        env: { name: string; value: string }[];
        ports: { name: string; containerPort: number }[];
        readinessProbe: { httpGet: { path: string } };
      }[];
    };
  };
}

async function render(values: object): Promise<readonly Rendered[]> {
  const args = ["run", join(ROOT, "test/helm/render.go"), join(ROOT, "deploy/helm/heliograph"), JSON.stringify(values)];
  const env = { ...process.env, GO111MODULE: "off", GOPATH: GO_SOURCES };
  const { stdout } = await run(go ?? "", args, { env });
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Rendered | null)
    .filter((document) => document !== null);
}

const environmentOf = ({ spec }: Rendered): Record<string, string> =>
  Object.fromEntries(
    ((spec as DeploymentSpec).template.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]),
  );

describe.runIf(canRender)("the Helm chart", () => {
  let documents: readonly Rendered[];
  beforeAll(async () => {
    documents = await render({
      baseUrl: "https://sms.example",
      drainSeconds: 30,
      ingress: { enabled: true, tlsSecret: "certificate" },
      deployments: {
        api: { settings: { HELIOGRAPH_TRUST_PROXY: "false", HELIOGRAPH_STREAMS_MAX: 50 } },
        smpp: { enabled: true },
      },
    });
  });
  const of = (kind: Rendered["kind"]): Rendered[] => documents.filter((document) => document.kind === kind);
  const named = (kind: Rendered["kind"], name: string): Rendered => {
    const found = of(kind).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no ${kind} ${name} was rendered`);
    return found;
  };

  test("renders objects that follow the schemas of Kubernetes", () => {
    expect(documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      "Deployment shop-api",
      "Deployment shop-dispatch",
      "Deployment shop-smpp",
      "Ingress shop",
      "PodDisruptionBudget shop-api",
      "PodDisruptionBudget shop-dispatch",
      "PodDisruptionBudget shop-smpp",
      "Service shop",
      "Service shop-smpp",
    ]);
    for (const document of documents)
      expect(() => new MODELS[document.kind](document as never).validate()).not.toThrow();
    const wrong = { ...documents.find(({ kind }) => kind === "Deployment"), spec: { replicas: "two" } };
    expect(() => new Deployment(wrong as never).validate()).toThrow("replicas");
  });

  test("gives each deployment its roles, and all together every role", () => {
    const roles = of("Deployment").map((deployment) => environmentOf(deployment)["HELIOGRAPH_ROLES"]);
    expect(roles).toEqual(["api", "dispatch,callbacks", "callbacks,smpp"]);
    expect([...new Set(roles.flatMap((each) => each?.split(",") ?? []))]).toEqual(
      expect.arrayContaining([...readConfig({}).roles]),
    );
  });

  test("serves SMPP on the port of its service, and leaves the deployment out unless it is switched on", async () => {
    const smpp = named("Deployment", "shop-smpp");
    const { HELIOGRAPH_SMPP_PORT: port } = environmentOf(smpp);
    const [container] = (smpp.spec as DeploymentSpec).template.spec.containers;
    expect(container?.ports).toContainEqual({ name: "smpp", containerPort: Number(port) });
    expect(named("Service", "shop-smpp").spec).toMatchObject({
      ports: [{ name: "smpp", port: Number(port), targetPort: "smpp" }],
    });
    const names = (await render({ baseUrl: "https://sms.example" })).map(({ metadata }) => metadata.name);
    expect(names).not.toContain("shop-smpp");
  });

  test("sets only settings that the server knows and accepts", () => {
    for (const deployment of of("Deployment")) {
      const environment = environmentOf(deployment);
      expect(unknownSettings(environment)).toEqual([]);
      const { HELIOGRAPH_DATABASE_URL_FILE: _, HELIOGRAPH_MASTER_KEY_FILE: __, ...readable } = environment;
      expect(readConfig(readable)).toMatchObject({ baseUrl: "https://sms.example", drainSeconds: 30 });
    }
  });

  test("lets a deployment override the settings of all", () => {
    const [api, dispatch] = of("Deployment").map(environmentOf);
    expect(api).toMatchObject({ HELIOGRAPH_TRUST_PROXY: "false", HELIOGRAPH_STREAMS_MAX: "50" });
    expect(dispatch).toMatchObject({ HELIOGRAPH_TRUST_PROXY: "true" });
  });

  test("gives a pod more time than its drain and stop take, and asks /readyz", () => {
    for (const { spec } of of("Deployment")) {
      const pod = (spec as DeploymentSpec).template.spec;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(30 + 10);
      expect(pod.containers[0]?.readinessProbe.httpGet.path).toBe("/readyz");
    }
  });

  test("sends requests only to pods with the role api", () => {
    const { selector } = named("Service", "shop").spec as { selector: Record<string, string> };
    const selected = of("Deployment").filter(({ spec }) => {
      const { labels } = (spec as DeploymentSpec).template.metadata;
      return Object.entries(selector).every(([name, value]) => labels[name] === value);
    });
    expect(selected.map(({ metadata }) => metadata.name)).toEqual(["shop-api"]);
  });

  test("is not rendered without the URL that clients use", async () => {
    await expect(render({})).rejects.toThrow("baseUrl is required");
  });
});
