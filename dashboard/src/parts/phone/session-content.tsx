import { Text } from "@mantine/core";
import { IconAddressBook, IconMapPin } from "@tabler/icons-react";
import type { SessionPart } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { Media } from "./media.tsx";
import classes from "./phone.module.css";
import { Tappable } from "./tappable.tsx";

interface Props {
  session: SessionPart;
  text: string;
  /** Absent where nothing can be tapped. */
  onTap?: ((choice: { text: string; data: string }) => void) | undefined;
}

const FILE_TYPES = ["image", "video", "document", "audio", "sticker"] as const;

/** A chat-app message without a template: a file, a place, contacts, choices or a reaction. */
export function SessionContent({ session, text, onTap }: Props) {
  const { interactive, location, contacts, reaction } = session;
  if (interactive) return <Choices interactive={interactive} onTap={onTap} />;
  if (location)
    return (
      <div className={classes.rich}>
        <div className={classes.words}>
          <IconMapPin size={14} aria-label={t("Place")} /> {text}
          <Text size="xs" c="dimmed">
            {location.latitude}, {location.longitude}
          </Text>
        </div>
      </div>
    );
  if (contacts)
    return (
      <div className={classes.rich}>
        {contacts.map(({ name, phones = [] }) => (
          <div key={name.formatted_name} className={classes.words}>
            <IconAddressBook size={14} aria-label={t("Contact")} /> {name.formatted_name}
            {phones.map(({ phone }) => (
              <Text key={phone} size="xs" c="dimmed">
                {phone}
              </Text>
            ))}
          </div>
        ))}
      </div>
    );
  if (reaction) return <div className={classes.bubble}>{reaction.emoji || t("Reaction removed")}</div>;
  const type = FILE_TYPES.find((each) => session[each]);
  const file = type && session[type];
  return (
    <div className={classes.rich}>
      {type && file && (
        <Media
          type={type === "sticker" ? "image" : type}
          link={file.link}
          isOwn
          {...(file.filename !== undefined && { name: file.filename })}
        />
      )}
      {text !== "" && <div className={classes.words}>{text}</div>}
    </div>
  );
}

interface ChoicesProps extends Pick<Props, "onTap"> {
  interactive: NonNullable<SessionPart["interactive"]>;
}

/** Reply buttons, the rows of a list, or a link, below the text. */
function Choices({ interactive: { header, body, footer, action }, onTap }: ChoicesProps) {
  const { buttons = [], sections = [], button, parameters } = action;
  const file = header?.image ?? header?.video ?? header?.document;
  return (
    <div className={classes.rich}>
      {header?.text && (
        <Text fw={650} px={13} pt={10} size="sm">
          {header.text}
        </Text>
      )}
      {header && file && <Media type={header.type} link={file.link} isOwn />}
      <div className={classes.words}>{body.text}</div>
      {footer && <div className={classes.footer}>{footer.text}</div>}
      {buttons.map(({ reply: { id, title } }) => (
        <Tappable
          key={id}
          of={{ type: "reply", text: title }}
          row
          onTap={onTap && (() => onTap({ text: title, data: id }))}
        />
      ))}
      {button && (
        <Text size="xs" c="dimmed" px={13} pt={8}>
          {button}
        </Text>
      )}
      {sections.map(({ title, rows }) => (
        <div key={rows[0]?.id} role="group" aria-label={title ?? button}>
          {title && (
            <Text size="xs" fw={650} px={13} pt={6}>
              {title}
            </Text>
          )}
          {rows.map((row) => (
            <Tappable
              key={row.id}
              of={{ type: "reply", text: row.title }}
              row
              note={row.description}
              onTap={onTap && (() => onTap({ text: row.title, data: row.id }))}
            />
          ))}
        </div>
      ))}
      {parameters && (
        <Tappable
          of={{ type: "url", text: parameters.display_text, url: parameters.url }}
          row
          onTap={onTap && (() => onTap({ text: parameters.display_text, data: parameters.url }))}
        />
      )}
    </div>
  );
}
