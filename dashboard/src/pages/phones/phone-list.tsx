import { Button, NavLink, Paper, ScrollArea, Text, TextInput, Title } from "@mantine/core";
import { IconDeviceMobile } from "@tabler/icons-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { Phone } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { localTime } from "../../parts/time-text.tsx";

/** The phones with messages, and an input to open any other number. */
export function PhoneList({ phones, current }: { phones: readonly Phone[]; current: string }) {
  const [typed, setTyped] = useState("");
  const [, navigate] = useLocation();
  const number = typed.replaceAll(/\D/g, "");
  const shown = phones.filter((phone) => phone.number.includes(number) || phone.name?.includes(typed));
  return (
    <Paper p="sm" component="section" aria-label={t("Phones")}>
      <Title order={2} size="h5" px="xs" mb="xs">
        {t("Phones")}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (number.length >= 7) navigate(`/phones/${number}`);
        }}
      >
        <TextInput
          aria-label={t("Search or enter a number")}
          placeholder={t("Search or enter a number")}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          mb="xs"
          data-filter
        />
        {number.length >= 7 && !phones.some((phone) => phone.number === number) && (
          <Button type="submit" size="xs" variant="light" fullWidth mb="xs">
            {t("Open {number}", { number })}
          </Button>
        )}
      </form>
      <ScrollArea.Autosize mah={{ base: 220, lg: 560 }} type="auto" viewportProps={{ tabIndex: 0 }}>
        {shown.map((phone) => (
          <NavLink
            key={phone.number}
            component={Link}
            href={`/phones/${phone.number}`}
            active={phone.number === current}
            aria-current={phone.number === current ? "page" : undefined}
            leftSection={<IconDeviceMobile size={18} aria-hidden />}
            label={`+${phone.number}`}
            description={describe(phone)}
          />
        ))}
        {shown.length === 0 && (
          <Text size="sm" c="dimmed" p="xs">
            {t("No results")}
          </Text>
        )}
      </ScrollArea.Autosize>
    </Paper>
  );
}

const describe = ({ script, name, lastMessageAt }: Phone): string =>
  [script ?? name, lastMessageAt === null ? t("empty") : localTime(lastMessageAt)].filter(Boolean).join(" · ");
