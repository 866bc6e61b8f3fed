import { Button, MultiSelect, Paper, SimpleGrid, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { countries } from "../../parts/countries.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { ItemList } from "../../parts/record/item-list.tsx";

const FIELD = "keywordRules";
const RULES_MAX = 50;
const ITEMS_LOOKED_AT = 50;

type WordsName = "stopWords" | "startWords" | "helpWords" | "confirmWords";
type ReplyName = "stopReply" | "startReply" | "helpReply" | "confirmReply";

type KeywordRule = {
  language: string | null;
  numbers: readonly string[] | null;
  countries: readonly string[] | null;
} & Partial<Record<WordsName, readonly string[] | null>> &
  Partial<Record<ReplyName, string | null>>;

const NEW_RULE: KeywordRule = { language: null, numbers: null, countries: null };

/** Words of which none means the default, either as null or by leaving the field out. */
const WORDS: readonly { name: WordsName; label: string; placeholder: string; empty: null | undefined }[] = [
  { name: "stopWords", label: t("Opt-out keywords"), placeholder: t("Those of the account"), empty: null },
  { name: "startWords", label: t("Opt-in keywords"), placeholder: t("Those of the account"), empty: null },
  { name: "helpWords", label: t("Help keywords"), placeholder: t("HELP and INFO"), empty: undefined },
  { name: "confirmWords", label: t("Confirmation keywords"), placeholder: t("YES"), empty: undefined },
];

const REPLIES: readonly { name: ReplyName; label: string; hint?: string }[] = [
  { name: "stopReply", label: t("Reply to an opt-out") },
  { name: "startReply", label: t("Reply to an opt-in") },
  { name: "helpReply", label: t("Reply to a help keyword") },
  {
    name: "confirmReply",
    label: t("Question of a double opt-in"),
    hint: t("Empty: an opt-in keyword counts at once."),
  },
];

/** Keywords and automatic replies by number and country. */
export const KeywordRulesInput = ({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) => (
  <ItemList
    label={label}
    hint={hint}
    fault={faultAt(FIELD)}
    items={(value ?? []) as readonly KeywordRule[]}
    max={RULES_MAX}
    add={t("Rule")}
    empty={NEW_RULE}
    onChange={onChange}
    disabled={disabled}
    render={(rule, change, remove, index) => <RuleInput {...{ rule, change, remove, index, faultAt, disabled }} />}
  />
);

interface RuleProps extends Pick<OwnInputProps, "faultAt" | "disabled"> {
  rule: KeywordRule;
  change: (rule: KeywordRule) => void;
  remove: () => void;
  index: number;
}

function RuleInput({ rule, change, remove, index, faultAt, disabled }: RuleProps) {
  const path = `${FIELD}[${index}]`;
  const listFault = (name: string): string | undefined =>
    [`${path}.${name}`, ...Array.from({ length: ITEMS_LOOKED_AT }, (_, at) => `${path}.${name}[${at}]`)]
      .map(faultAt)
      .find((fault) => fault !== undefined);
  const numbers = rule.numbers ?? [];
  const chosen = rule.countries ?? [];
  const orNull = <T,>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);
  return (
    <Paper p="sm" role="group" aria-label={t("Rule {number}", { number: index + 1 })}>
      <Stack gap="xs">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
          <TagsInput
            label={t("Senders, bots and business numbers")}
            placeholder={numbers.length === 0 ? t("All") : ""}
            value={[...numbers]}
            onChange={(list) => change({ ...rule, numbers: orNull(list) })}
            error={listFault("numbers")}
            acceptValueOnBlur
            disabled={disabled}
          />
          <MultiSelect
            label={t("Countries of users")}
            placeholder={chosen.length === 0 ? t("All") : ""}
            data={countries()}
            value={[...chosen]}
            onChange={(list) => change({ ...rule, countries: orNull(list) })}
            error={listFault("countries")}
            searchable
            hidePickedOptions
            nothingFoundMessage={t("No results")}
            disabled={disabled}
          />
          {WORDS.map(({ name, label, placeholder, empty }) => {
            const words = rule[name] ?? [];
            return (
              <TagsInput
                key={name}
                label={label}
                placeholder={words.length === 0 ? placeholder : ""}
                value={[...words]}
                onChange={(list) => {
                  const { [name]: _, ...rest } = rule;
                  change(
                    list.length > 0 ? { ...rest, [name]: list } : empty === null ? { ...rest, [name]: null } : rest,
                  );
                }}
                error={listFault(name)}
                acceptValueOnBlur
                disabled={disabled}
              />
            );
          })}
        </SimpleGrid>
        {REPLIES.map(({ name, label, hint }) => (
          <Textarea
            key={name}
            label={label}
            description={hint}
            autosize
            maxLength={480}
            value={rule[name] ?? ""}
            onChange={({ currentTarget }) =>
              change({ ...rule, [name]: currentTarget.value === "" ? null : currentTarget.value })
            }
            error={faultAt(`${path}.${name}`)}
            disabled={disabled}
          />
        ))}
        <TextInput
          label={t("Language of the replies")}
          placeholder="fr"
          maw={200}
          value={rule.language ?? ""}
          onChange={({ currentTarget }) =>
            change({ ...rule, language: currentTarget.value === "" ? null : currentTarget.value })
          }
          error={faultAt(`${path}.language`)}
          disabled={disabled}
        />
        <div>
          <Button size="compact-sm" variant="subtle" color="red" onClick={remove} disabled={disabled}>
            {t("Remove rule {number}", { number: index + 1 })}
          </Button>
        </div>
      </Stack>
    </Paper>
  );
}
