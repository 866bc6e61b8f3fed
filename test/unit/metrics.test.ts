import { describe, expect, test } from "vitest";
import { Registry } from "../../src/lib/metrics.ts";

describe("Registry", () => {
  test("a counter counts per label values, and every scrape shows all of them", async () => {
    const registry = new Registry();
    const sent = registry.counter({ name: "sent_total", help: "What was sent.", labels: ["channel", "type"] });
    sent("sms", "OTP").inc();
    sent("sms", "PROMO").inc(3);
    sent("sms", "OTP").inc();
    const text = [
      "# HELP sent_total What was sent.",
      "# TYPE sent_total counter",
      'sent_total{channel="sms",type="OTP"} 2',
      'sent_total{channel="sms",type="PROMO"} 3',
      "",
    ].join("\n");
    expect(await registry.metrics()).toBe(text);
    expect(await registry.metrics()).toBe(text);
  });

  test("metrics without samples show their HELP and TYPE lines, with an empty line between metrics", async () => {
    const registry = new Registry();
    registry.counter({ name: "a_total", help: "A.", labels: ["x"] });
    registry.gauge({ name: "b", help: "B." }, async () => 1.5);
    expect(await registry.metrics()).toBe(
      "# HELP a_total A.\n# TYPE a_total counter\n\n# HELP b B.\n# TYPE b gauge\nb 1.5\n",
    );
  });

  test("values that other components keep are read at every scrape", async () => {
    const registry = new Registry();
    let up = 1;
    registry.states({ name: "up", help: "Up.", label: "line" }, () => ({ north: up, south: 0 }));
    registry.count({ name: "seconds_total", help: "Time." }, () => 1.5);
    expect(await registry.metrics()).toBe(
      '# HELP up Up.\n# TYPE up gauge\nup{line="north"} 1\nup{line="south"} 0\n\n# HELP seconds_total Time.\n# TYPE seconds_total counter\nseconds_total 1.5\n',
    );
    up = 0;
    expect(await registry.metrics()).toContain('up{line="north"} 0\n');
  });

  test("label values are escaped", async () => {
    const registry = new Registry();
    registry
      .counter({ name: "a_total", help: "A.", labels: ["x"] })('say "hi" \\ or\nnot')
      .inc();
    expect(await registry.metrics()).toContain('a_total{x="say \\"hi\\" \\\\ or\\nnot"} 1\n');
  });

  test("a removed gauge value is no longer shown", async () => {
    const registry = new Registry();
    const figures = registry.gauges({ name: "alerts", help: "Alerts.", label: "country" });
    figures.set("IN", 2);
    expect(await registry.metrics()).toContain('alerts{country="IN"} 2\n');
    figures.clear();
    expect(await registry.metrics()).toBe("# HELP alerts Alerts.\n# TYPE alerts gauge\n");
  });

  test("the buckets of a histogram are cumulative", async () => {
    const registry = new Registry();
    const took = registry.histogram({ name: "took", help: "Time.", labels: ["type"] }, [5, 10]);
    for (const ms of [1, 5, 5.5, 10, 11]) took("OTP").observe(ms);
    expect((await registry.metrics()).split("\n").slice(2, -1)).toEqual([
      'took_bucket{le="5",type="OTP"} 2',
      'took_bucket{le="10",type="OTP"} 4',
      'took_bucket{le="+Inf",type="OTP"} 5',
      'took_sum{type="OTP"} 32.5',
      'took_count{type="OTP"} 5',
    ]);
  });
});
