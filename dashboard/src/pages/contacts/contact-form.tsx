import { Button, Group, Modal, MultiSelect, Stack, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { post, put } from "../../api.ts";
import { useApiForm } from "../../api-form.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { attributesAsText, attributesOfText, CONSENTS, consentKey, CONTACTS, type Contact } from "./contact.ts";

interface Props {
  /** Null for a new contact. */
  contact: Contact | null;
  label: string;
  icon: ReactNode;
  onSaved: (contact: Contact) => void;
}

/** A button that opens the form of a contact. */
export function ContactFormButton({ contact, label, icon, onSaved }: Props) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <GuardedButton leftSection={icon} onClick={open}>
        {label}
      </GuardedButton>
      <Modal opened={opened} onClose={close} title={label}>
        {opened && (
          <ContactForm
            contact={contact}
            cancel={close}
            onSaved={(saved) => {
              close();
              onSaved(saved);
            }}
          />
        )}
      </Modal>
    </>
  );
}

interface FormProps extends Pick<Props, "contact" | "onSaved"> {
  cancel: () => void;
}

function ContactForm({ contact, cancel, onSaved }: FormProps) {
  const granted = (contact?.consents ?? []).filter((consent) => consent.granted).map(consentKey);
  const { form, submit, error, busy } = useApiForm({
    initialValues: {
      number: contact?.number ?? "",
      name: contact?.name ?? "",
      tags: [...(contact?.tags ?? [])],
      attributes: attributesAsText(contact?.attributes ?? {}),
      consents: granted,
    },
  });

  async function save({ number, name, tags, attributes, consents }: typeof form.values): Promise<void> {
    const changed = CONSENTS.map(({ value }) => value).filter(
      (key) => consents.includes(key) !== granted.includes(key),
    );
    const body = {
      name: name.trim() || null,
      tags,
      attributes: attributesOfText(attributes, contact?.attributes ?? {}),
      consents: changed.map((key) => {
        const [channel, type] = key.split(":");
        return { channel, type, granted: consents.includes(key), source: "dashboard" };
      }),
    };
    onSaved(
      contact
        ? await put<Contact>(`${CONTACTS}/${contact.number}`, body)
        : await post<Contact>(CONTACTS, { number, ...body }),
    );
  }

  return (
    <form onSubmit={submit(save)}>
      <Stack gap="sm">
        {!contact && (
          <TextInput
            label={t("Number")}
            description={t("With country code, with or without a plus.")}
            placeholder="15550100100"
            type="tel"
            required
            {...form.getInputProps("number")}
          />
        )}
        <TextInput label={t("Name")} {...form.getInputProps("name")} />
        <TagsInput label={t("Tags")} placeholder={t("Type a tag and press Enter")} {...form.getInputProps("tags")} />
        <Textarea
          label={t("Attributes")}
          description={t("One per line, such as city: Pune.")}
          autosize
          minRows={2}
          {...form.getInputProps("attributes")}
        />
        <MultiSelect
          label={t("Consents")}
          description={t("A record with time and source. The opt-out list alone stops promotions.")}
          data={CONSENTS}
          {...form.getInputProps("consents")}
        />
        {error && <ErrorState error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
            {t("Cancel")}
          </Button>
          <Button type="submit" loading={busy}>
            {t("Save")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
