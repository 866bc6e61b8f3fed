import { ActionIcon, CopyButton, Text } from "@mantine/core";
import { IconCheck, IconCopy, IconMapPin } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Card, ChatCard, ChatHeader, PhoneMessage, Suggestion } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { TimeText } from "../time-text.tsx";
import { Media } from "./media.tsx";
import { isBinary, Octets } from "./octets.tsx";
import classes from "./phone.module.css";
import { SessionContent } from "./session-content.tsx";
import { Tappable } from "./tappable.tsx";

/** The tapped suggestion or button, in the form that the simulator takes. */
export interface Tap {
  messageId: string;
  text: string;
  data?: string;
  card?: number;
}

interface Props {
  message: PhoneMessage;
  /** Absent in previews, where nothing can be tapped. */
  onTap?: ((tap: Tap) => void) | undefined;
  /** Additional text beside the time. */
  note?: ReactNode;
  /** The words of the message that it replies to or reacts to. */
  quoted?: string | undefined;
}

/** A message of any channel as the phone shows it. */
export function Bubble({ message, onTap, note, quoted }: Props) {
  return (
    <div className={classes.in} data-message={message.messageId}>
      {quoted && (
        <Text size="xs" c="dimmed" truncate data-quoted>
          {t("About: {text}", { text: quoted })}
        </Text>
      )}
      <Content message={message} onTap={onTap} />
      <div className={classes.meta}>
        <TimeText at={message.receivedAt} fz="inherit" />
        {message.parts && message.parts.length > 1 && (
          <span>{t("{count} parts", { count: message.parts.length })}</span>
        )}
        {note}
      </div>
    </div>
  );
}

function Content({ message, onTap }: Pick<Props, "message" | "onTap">) {
  const { messageId, text, suggestions = [], cards = [], header, footer, buttons = [], offer, carousel } = message;
  if (cards.length > 0)
    return (
      <Cards
        cards={cards}
        onTap={
          onTap && ((suggestion, card) => onTap({ messageId, text: suggestion.text, data: suggestion.data, card }))
        }
      />
    );
  if (message.session)
    return (
      <SessionContent
        session={message.session}
        text={text}
        onTap={onTap && ((choice) => onTap({ messageId, ...choice }))}
      />
    );
  if (carousel)
    return (
      <>
        <div className={classes.bubble}>{text}</div>
        <Carousel cards={carousel} onTap={onTap && ((tapped, card) => onTap({ messageId, text: tapped, card }))} />
      </>
    );
  if (message.channel === "chatapp")
    return (
      <div className={classes.rich}>
        {header && <Header header={header} />}
        {offer && (
          <Text size="sm" fw={650} px={13} pt={8}>
            {offer.text}
            {offer.expiresAt !== null && (
              <>
                {" · "}
                <TimeText at={offer.expiresAt} fz="inherit" />
              </>
            )}
          </Text>
        )}
        <div className={classes.words}>{text}</div>
        {footer && <div className={classes.footer}>{footer}</div>}
        {buttons.map((button) => (
          <Tappable
            key={button.text}
            of={button}
            row
            onTap={onTap && (() => onTap({ messageId, text: button.text }))}
          />
        ))}
      </div>
    );
  return (
    <>
      <div className={classes.bubble}>
        {message.subject !== undefined && (
          <Text fw={650} size="sm">
            {message.subject}
          </Text>
        )}
        {isBinary(message) ? <Octets {...message} /> : text}
        {message.email !== undefined && (
          <Text size="xs" c="dimmed">
            {t("To {address}", { address: message.email })}
          </Text>
        )}
      </div>
      {!isBinary(message) && <OtpChip text={text} />}
      {suggestions.length > 0 && (
        <div className={classes.chips}>
          {suggestions.map((suggestion) => (
            <Tappable
              key={suggestion.text + suggestion.data}
              of={suggestion}
              onTap={onTap && (() => onTap({ messageId, text: suggestion.text, data: suggestion.data }))}
            />
          ))}
        </div>
      )}
    </>
  );
}

interface CardsProps {
  cards: readonly Card[];
  onTap?: ((suggestion: Suggestion, card: number) => void) | undefined;
}

/** One card, or a carousel. */
function Cards({ cards, onTap }: CardsProps) {
  return (
    <div className={classes.cards} tabIndex={cards.length > 1 ? 0 : undefined}>
      {cards.map((card, index) => (
        <article
          key={card.title + String(index)}
          className={`${classes.rich} ${cards.length > 1 ? classes.card : classes.single}`}
        >
          {card.fileUrl !== null && <Media link={card.fileUrl} isOwn />}
          <div className={classes.words}>
            <Text fw={650} size="sm">
              {card.title}
            </Text>
            {card.description}
          </div>
          {card.suggestions.map((suggestion) => (
            <Tappable
              key={suggestion.text + suggestion.data}
              of={suggestion}
              row
              onTap={onTap && (() => onTap(suggestion, index + 1))}
            />
          ))}
        </article>
      ))}
    </div>
  );
}

interface CarouselProps {
  cards: readonly ChatCard[];
  onTap?: ((text: string, card: number) => void) | undefined;
}

/** The cards of a chat-app template. */
function Carousel({ cards, onTap }: CarouselProps) {
  return (
    <div className={classes.cards} tabIndex={0}>
      {cards.map((card, index) => (
        <article key={index} className={`${classes.rich} ${classes.card}`}>
          <Header header={card.header} />
          {card.text && <div className={classes.words}>{card.text}</div>}
          {card.buttons.map((button) => (
            <Tappable key={button.text} of={button} row onTap={onTap && (() => onTap(button.text, index + 1))} />
          ))}
        </article>
      ))}
    </div>
  );
}

function Header({ header }: { header: ChatHeader }) {
  if (header.type === "location")
    return (
      <div className={classes.words}>
        <IconMapPin size={14} aria-label={t("Place")} /> {header.location?.name ?? t("Place on a map")}
        <Text size="xs" c="dimmed">
          {header.location?.address}
        </Text>
      </div>
    );
  if (header.type === "text")
    return (
      <Text fw={650} px={13} pt={10} size="sm">
        {header.text}
      </Text>
    );
  return <Media type={header.type} link={header.link ?? ""} isOwn />;
}

/** Words that mark a number in the text as a code rather than, for example, an order number. */
const CODE_WORDS = /\b(code|otp|password|passcode|pin|verification)\b/i;
const CODE = /\b(?=[0-9A-Z]*\d)[0-9A-Z]{4,8}\b/;

const codeIn = (text: string): string | null => (CODE_WORDS.test(text) ? (CODE.exec(text)?.[0] ?? null) : null);

/** A one-time password with a copy button, as phones offer it. */
function OtpChip({ text }: { text: string }) {
  const code = codeIn(text);
  if (code === null) return null;
  return (
    <div className={classes.otp}>
      {code}
      <CopyButton value={code} timeout={1500}>
        {({ copied, copy }) => (
          <ActionIcon
            variant="transparent"
            color="green"
            size="sm"
            onClick={copy}
            aria-label={copied ? t("Copied") : t("Copy the code {code}", { code })}
          >
            {copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
          </ActionIcon>
        )}
      </CopyButton>
    </div>
  );
}
