import { BadSetting } from "../config.ts";

type Commands = Readonly<Record<string, { options: readonly string[]; meaning: string }>>;

const PROGRAM = "heliograph";

/** A shell's script that completes the commands and the options of each. */
export function completionFor(shell: string, commands: Commands): string {
  const write = { bash, zsh, fish }[shell];
  if (!write) throw new BadSetting("name your shell: completion bash, completion zsh or completion fish");
  return write(commands);
}

const optionsOf = ({ options }: { options: readonly string[] }): string =>
  options.map((option) => `--${option}`).join(" ");

/** First words, and the second words of those that have one. */
function words(commands: Commands): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of Object.keys(commands)) {
    const [first = "", second] = name.split(" ");
    const seconds = found.get(first) ?? [];
    found.set(first, second === undefined ? seconds : [...seconds, second]);
  }
  return found;
}

function bash(commands: Commands): string {
  const first = words(commands);
  const seconds = [...first].filter(([, list]) => list.length > 0);
  const casesOf = (length: number): string =>
    Object.entries(commands)
      .filter(([name]) => name.split(" ").length === length)
      .map(([name, command]) => `    "${name}") options="${optionsOf(command)}" ;;`)
      .join("\n");
  return `_${PROGRAM}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${[...first.keys()].join(" ")}" -- "$word"))
    return
  fi
  if [ "$COMP_CWORD" -eq 2 ]; then
    case "\${COMP_WORDS[1]}" in
${seconds.map(([one, list]) => `    ${one}) COMPREPLY=($(compgen -W "${list.join(" ")}" -- "$word")) ;;`).join("\n")}
    esac
    [ \${#COMPREPLY[@]} -gt 0 ] && return
  fi
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${casesOf(2)}
  esac
  [ -z "$options" ] && case "\${COMP_WORDS[1]}" in
${casesOf(1)}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options --help" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _${PROGRAM} ${PROGRAM}`;
}

/** zsh runs bash's script. */
function zsh(commands: Commands): string {
  return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;

function fish(commands: Commands): string {
  const lines = [`complete -c ${PROGRAM} -f`];
  for (const [first, seconds] of words(commands)) {
    const meaning = commands[first]?.meaning ?? seconds.join(", ");
    lines.push(`complete -c ${PROGRAM} -n __fish_use_subcommand -a ${first} -d ${quoted(meaning)}`);
  }
  for (const [name, { options, meaning }] of Object.entries(commands)) {
    const [first = "", second] = name.split(" ");
    const isFirst = `__fish_seen_subcommand_from ${first}`;
    if (second !== undefined) {
      const others = (words(commands).get(first) ?? []).join(" ");
      const condition = quoted(`${isFirst}; and not __fish_seen_subcommand_from ${others}`);
      lines.push(`complete -c ${PROGRAM} -n ${condition} -a ${second} -d ${quoted(meaning)}`);
    }
    const condition = quoted(second === undefined ? isFirst : `${isFirst}; and __fish_seen_subcommand_from ${second}`);
    for (const option of options) lines.push(`complete -c ${PROGRAM} -n ${condition} -l ${option}`);
  }
  return lines.join("\n");
}
