import { ActionIcon, Button, Group, Menu, Modal, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconEye, IconFile, IconMapPin, IconPlus, IconSend } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import type { Thread } from "./threads.ts";
import { NumberInput } from "../../parts/number-input.tsx";

interface Props {
  thread: Thread;
  busy: boolean;
  /** Returns true on success. */
  run: (verb: string, body: object) => Promise<boolean>;
}

/** Reply inputs of the phone's owner: text, file and location; on RCS and the chat app also a read receipt. */
export function AnswerBar({ thread, busy, run }: Props) {
  const [text, setText] = useState("");
  const [fileOpen, file] = useDisclosure(false);
  const [placeOpen, place] = useDisclosure(false);
  const { sender: to, channel } = thread;
  const rich = channel !== "sms";
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") void run("reply", { to, channel, text }).then((done) => done && setText(""));
        }}
      >
        <Group gap={6} wrap="nowrap">
          {rich && (
            <Menu position="top-start">
              <Menu.Target>
                <ActionIcon variant="subtle" color="gray" size="lg" radius="xl" aria-label={t("More to send")}>
                  <IconPlus size={19} aria-hidden />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item leftSection={<IconFile size={16} aria-hidden />} onClick={file.open}>
                  {t("Send a file")}
                </Menu.Item>
                <Menu.Item leftSection={<IconMapPin size={16} aria-hidden />} onClick={place.open}>
                  {t("Share a location")}
                </Menu.Item>
                <Menu.Item leftSection={<IconEye size={16} aria-hidden />} onClick={() => void run("read", {})}>
                  {t("Mark as read")}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )}
          <TextInput
            flex={1}
            radius="xl"
            placeholder={t("Reply to {to}", { to })}
            aria-label={t("Reply to {to}", { to })}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          <ActionIcon type="submit" size="lg" radius="xl" loading={busy} aria-label={t("Send reply")}>
            <IconSend size={17} aria-hidden />
          </ActionIcon>
        </Group>
      </form>
      <FileModal opened={fileOpen} close={file.close} send={(body) => run("file", { to, channel, ...body })} />
      <PlaceModal opened={placeOpen} close={place.close} send={(body) => run("location", { to, channel, ...body })} />
    </>
  );
}

interface ModalProps {
  opened: boolean;
  close: () => void;
  send: (body: object) => Promise<boolean>;
}

function FileModal({ opened, close, send }: ModalProps) {
  const [fileName, setFileName] = useState("door.jpg");
  const [mimeType, setMimeType] = useState("image/jpeg");
  const [fileUri, setFileUri] = useState("https://files.example/door.jpg");
  return (
    <Modal opened={opened} onClose={close} title={t("Send a file")}>
      <Stack>
        <TextInput
          label={t("Name")}
          value={fileName}
          onChange={({ currentTarget }) => setFileName(currentTarget.value)}
        />
        <TextInput
          label={t("Kind")}
          value={mimeType}
          onChange={({ currentTarget }) => setMimeType(currentTarget.value)}
        />
        <TextInput
          label={t("Address")}
          description={t("The file is not fetched; the URL is passed on.")}
          value={fileUri}
          onChange={({ currentTarget }) => setFileUri(currentTarget.value)}
        />
        <Button
          onClick={() => {
            void send({ fileName, mimeType, fileUri, fileSizeBytes: 48_213 }).then((done) => done && close());
          }}
        >
          {t("Send file")}
        </Button>
      </Stack>
    </Modal>
  );
}

function PlaceModal({ opened, close, send }: ModalProps) {
  const [latitude, setLatitude] = useState<number | "">(48.8584);
  const [longitude, setLongitude] = useState<number | "">(2.2945);
  return (
    <Modal opened={opened} onClose={close} title={t("Share a location")}>
      <Stack>
        <Group grow>
          <NumberInput decimals label={t("Latitude")} value={latitude} onChange={setLatitude} min={-90} max={90} />
          <NumberInput decimals label={t("Longitude")} value={longitude} onChange={setLongitude} min={-180} max={180} />
        </Group>
        <Button
          onClick={() => {
            void send({ latitude: Number(latitude), longitude: Number(longitude) }).then((done) => done && close());
          }}
        >
          {t("Share")}
        </Button>
      </Stack>
    </Modal>
  );
}
