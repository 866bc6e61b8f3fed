import { Button, FileButton, Group, Progress, TextInput } from "@mantine/core";
import { useState } from "react";
import { upload } from "../../api.ts";
import { t } from "../../i18n/t.ts";

interface Props {
  label: string;
  /** A URL, or `media:` and the id of an upload. */
  value: string;
  onChange: (value: string) => void;
}

/** A file of a message: the URL of one, or a file of this computer, which is uploaded at once. */
export function FileField({ label, value, onChange }: Props) {
  const [name, setName] = useState("");
  const [share, setShare] = useState<number | null>(null);
  const [error, setError] = useState<string | null>(null);
  const isUploaded = value.startsWith("media:");
  const send = async (file: File | null): Promise<void> => {
    if (!file) return;
    setName(file.name);
    setError(null);
    setShare(0);
    try {
      const { id } = await upload<{ id: string }>(`/v1/media?name=${encodeURIComponent(file.name)}`, file, setShare);
      onChange(`media:${id}`);
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed));
    } finally {
      setShare(null);
    }
  };
  return (
    <div>
      <Group align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label={label}
          type={isUploaded ? "text" : "url"}
          value={isUploaded ? t("Uploaded: {name}", { name: name || value.slice("media:".length) }) : value}
          readOnly={isUploaded}
          error={error}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
        {isUploaded ? (
          <Button variant="default" onClick={() => onChange("")}>
            {t("Remove")}
          </Button>
        ) : (
          <FileButton onChange={(file) => void send(file)}>
            {(props) => (
              <Button {...props} variant="default" loading={share !== null}>
                {t("Choose file")}
              </Button>
            )}
          </FileButton>
        )}
      </Group>
      {share !== null && <Progress value={share * 100} mt="xs" aria-label={t("Upload")} />}
    </div>
  );
}
