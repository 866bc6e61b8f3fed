import { ActionIcon, Anchor, Button, Group, Popover, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { IconBookmark, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import { useSession } from "../../session.tsx";
import { FILTER_NAMES, type Filters } from "./filters.tsx";

const STORED = "heliograph-message-views";
const NAME_MAX = 60;

interface View {
  name: string;
  /** Only the filters that are set. */
  filters: Partial<Filters>;
}

function readViews(place: string): View[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    return Array.isArray(stored) ? (stored as View[]) : [];
  } catch {
    return [];
  }
}

interface Props {
  filters: Filters;
  change: (changes: Partial<Record<keyof Filters, string | null>>) => void;
}

/** Combinations of filters under names of the user's choice, kept in this browser for this user. */
export function SavedViews({ filters, change }: Props) {
  const { user } = useSession();
  const place = `${STORED} ${user.id}`;
  const [views, setViews] = useState(() => readViews(place));
  const [name, setName] = useState("");
  const [opened, setOpened] = useState(false);
  const current = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== "")) as Partial<Filters>;
  const isFiltered = Object.keys(current).length > 0;

  function store(next: View[]): void {
    localStorage.setItem(place, JSON.stringify(next));
    setViews(next);
  }

  function show(view: View): void {
    change(Object.fromEntries(FILTER_NAMES.map((filter) => [filter, view.filters[filter] ?? null])));
    setOpened(false);
  }

  return (
    <Popover position="bottom-end" trapFocus opened={opened} onChange={setOpened} width={300}>
      <Tooltip label={t("Saved views")}>
        <Popover.Target>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={t("Saved views")}
            onClick={() => setOpened((isOpen) => !isOpen)}
          >
            <IconBookmark size={17} aria-hidden />
          </ActionIcon>
        </Popover.Target>
      </Tooltip>
      <Popover.Dropdown>
        <Stack gap="xs">
          {views.length === 0 && !isFiltered && (
            <Text size="sm" c="dimmed">
              {t("Set filters, and save them here under a name.")}
            </Text>
          )}
          {views.map((view) => (
            <Group key={view.name} justify="space-between" wrap="nowrap">
              <Anchor component="button" type="button" size="sm" ta="start" onClick={() => show(view)}>
                {view.name}
              </Anchor>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t("Remove {name}", { name: view.name })}
                onClick={() => store(views.filter((each) => each !== view))}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </Group>
          ))}
          {isFiltered && (
            <form
              onSubmit={(event) => {
                event.preventDefault();
                const given = name.trim();
                if (given === "") return;
                store([...views.filter((view) => view.name !== given), { name: given, filters: current }]);
                setName("");
              }}
            >
              <Group gap="xs" align="flex-end" wrap="nowrap">
                <TextInput
                  label={t("Save these filters as")}
                  size="xs"
                  flex={1}
                  maxLength={NAME_MAX}
                  value={name}
                  onChange={({ currentTarget }) => setName(currentTarget.value)}
                />
                <Button type="submit" size="xs" disabled={name.trim() === ""}>
                  {t("Save")}
                </Button>
              </Group>
            </form>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
