import { useEffect, useRef, useState } from "react";
import { t } from "../../i18n/t.ts";
import { Bubble, type Tap } from "../../parts/phone/bubble.tsx";
import { Flash } from "../../parts/phone/flash.tsx";
import { OwnBubble } from "../../parts/phone/own-bubble.tsx";
import { entryText, type Thread } from "./threads.ts";

interface Props {
  thread: Thread;
  onTap?: ((tap: Tap) => void) | undefined;
}

/** The words of the message that another one is about. */
function wordsOf(entries: Thread["entries"], id: string | undefined): string | undefined {
  const found = entries.find((entry) => (entry.kind === "in" ? entry.message.messageId : entry.id) === id);
  return id === undefined || !found ? undefined : entryText(found);
}

/** The messages of a conversation, scrolled to the newest. A flash message covers them until it is closed. */
export function Conversation({ thread, onTap }: Props) {
  const [putAway, setPutAway] = useState<string | null>(null);
  const end = useRef<HTMLDivElement>(null);
  const { last, entries } = thread;
  useEffect(() => {
    const box = end.current?.parentElement;
    if (box) box.scrollTop = box.scrollHeight;
  }, [last.id]);
  if (last.kind === "in" && last.message.flash && putAway !== last.id)
    return <Flash message={last.message} onClose={() => setPutAway(last.id)} />;
  return (
    <>
      {entries.map((entry) =>
        entry.kind === "in" ? (
          <Bubble
            key={entry.id}
            message={entry.message}
            onTap={onTap}
            note={entry.message.flash ? <span>{t("flash")}</span> : null}
            quoted={wordsOf(entries, entry.message.about)}
          />
        ) : (
          <OwnBubble key={entry.id} inbound={entry.inbound} />
        ),
      )}
      <div ref={end} />
    </>
  );
}
