import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { useLocation, useSearchParams } from "wouter";
import classes from "./url-tabs.module.css";

export interface UrlTab {
  value: string;
  label: string;
  panel: ReactNode;
}

/** Tabs whose selection is part of the URL. Selecting another tab clears the filters. */
export function UrlTabs({ label, tabs }: { label: string; tabs: readonly UrlTab[] }) {
  const [search] = useSearchParams();
  const [path, navigate] = useLocation();
  const [first] = tabs;
  const chosen = tabs.find(({ value }) => value === search.get("tab")) ?? first;
  return (
    <Tabs
      value={chosen?.value ?? null}
      onChange={(value) => navigate(value === first?.value ? path : `${path}?tab=${value ?? ""}`)}
      keepMounted={false}
    >
      <Tabs.List mb="lg" aria-label={label} className={classes.list}>
        {tabs.map(({ value, label: word }) => (
          <Tabs.Tab key={value} value={value}>
            {word}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ value, panel }) => (
        <Tabs.Panel key={value} value={value}>
          {panel}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
