import { Anchor, Button, Drawer, Text } from "@mantine/core";
import { IconLink } from "@tabler/icons-react";
import { Link } from "wouter";
import { usePages } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { DrawerTitle } from "../../parts/drawer-title.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { LinkDetail } from "./link-detail.tsx";
import { LINKS, type ShortLink } from "./short-link.ts";

const columnsWith = (open: (id: string) => void): Column<ShortLink>[] => [
  {
    title: t("Target URL"),
    render: ({ id, url }) => (
      <Anchor component="button" type="button" size="sm" ta="left" onClick={() => open(id)} maw={420} truncate>
        {url}
      </Anchor>
    ),
  },
  { title: t("Recipients"), align: "right", wide: true, render: ({ recipients }) => formatNumber(recipients) },
  {
    title: t("Clicked"),
    align: "right",
    render: ({ recipients, recipientsClicked }) => (
      <>
        {formatNumber(recipientsClicked)}{" "}
        <Text span size="xs" c="dimmed">
          {recipients === 0 ? "" : `${Math.round((recipientsClicked / recipients) * 100)} %`}
        </Text>
      </>
    ),
  },
  { title: t("By people"), align: "right", wide: true, render: ({ clicks }) => formatNumber(clicks.person) },
  {
    title: t("By bots"),
    align: "right",
    wide: true,
    render: ({ clicks }) => formatNumber(clicks.preview + clicks.bot),
  },
  { title: t("Sent"), wide: true, render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
];

/** Short links in messages, with their clicks. */
export default function ShortLinks() {
  const [{ open }, change] = useUrlState(["open"]);
  const { table } = usePages<ShortLink>(LINKS);
  const show = (id: string): void => change({ open: id });
  return (
    <>
      <PageHeader
        title={t("Short links")}
        lead={t("URLs shortened in messages. Each recipient has a unique link, so clicks are counted per recipient.")}
      />
      <DataTable
        label={t("Short links")}
        columns={columnsWith(show)}
        rowKey={({ id }) => id}
        onRow={({ id }) => show(id)}
        {...table}
        empty={
          <EmptyState
            icon={IconLink}
            sentence={t("No short links yet. Use {SORT} where the short link should go.")}
            action={
              <Button component={Link} href="/composer?kind=sms-short-link">
                {t("Write a message")}
              </Button>
            }
            curl={curlOf({
              path: "/v1/sms",
              body: {
                sender: "HELIOG",
                to: "15550100100",
                text: "Track your order: {SORT}",
                type: "TRANS",
                shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/orders/4711"] },
              },
            })}
          />
        }
      />
      <Drawer
        opened={open !== ""}
        onClose={() => change({ open: null })}
        position="right"
        size="lg"
        title={<DrawerTitle>{t("Clicks over time")}</DrawerTitle>}
      >
        {open !== "" && <LinkDetail id={open} />}
      </Drawer>
    </>
  );
}
