import { Command } from 'commander'

import { EXIT, wrongUse } from './session/session.js'
import type { DefineCommand, Session } from './session/session.js'
import { addOutputOptions, examples, outJson } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import { packageVersion } from '../lib/package-root.js'

/** What can be written after a command: the names of its subcommands, and its flags. */
export interface CommandWords {
  /** The names from the program on, `gates list`; empty for the program itself. */
  readonly path: string
  readonly words: readonly string[]
}

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** `tidegate completion SHELL`: a script for the shell, made of the commands as they are. */
export const makeDefineCompletion =
  (loadCommands: LoadCommands): DefineCommand =>
  (command, session) => {
    addOutputOptions(command)
      .description('Prints a script that makes a shell complete commands and flags.')
      .argument('<shell>', Object.keys(SHELLS).join(', '))
      .addHelpText(
        'after',
        examples(
          'tidegate completion fish > ~/.config/fish/completions/tidegate.fish',
          'source <(tidegate completion bash)',
          'source <(tidegate completion zsh)',
        ),
      )
      .action(async (shell: string, { format }: OutputOptions) => {
        if (!isShell(shell))
          throw wrongUse(`unknown shell '${shell}'; there are ${Object.keys(SHELLS).join(', ')}`)
        const words = wordsOf(await fullProgram(loadCommands, session), '')
        if (format === 'json') outJson(session.terminal, words)
        else session.terminal.out(SHELLS[shell](words))
        session.exitCode = EXIT.fine
      })
  }

function isShell(name: string): name is keyof typeof SHELLS {
  return Object.hasOwn(SHELLS, name)
}

function wordsOf(command: Command, path: string): CommandWords[] {
  const flags = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []))
  const own = { path, words: [...command.commands.map((sub) => sub.name()), ...flags, '--help'] }
  return [own, ...command.commands.flatMap((sub) => wordsOf(sub, `${path} ${sub.name()}`.trim()))]
}

function cases(words: readonly CommandWords[], line: (words: string) => string): string {
  return words.map((each) => `    '${each.path}') ${line(each.words.join(' '))} ;;`).join('\n')
}

/** The script finds the command by the words before the cursor, without flags and their values. */
function bashScript(words: readonly CommandWords[]): string {
  return `_tidegate() {
  local word path='' cur="\${COMP_WORDS[COMP_CWORD]}" known=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " $(_tidegate_words "$path") " in *" $word "*) [[ $word == -* ]] || path="\${path:+$path }$word" ;; esac
  done
  known="$(_tidegate_words "$path")"
  COMPREPLY=($(compgen -W "$known" -- "$cur"))
  [[ \${#COMPREPLY[@]} -gt 0 || $cur == -* ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
_tidegate_words() {
  case "$1" in
${cases(words, (text) => `echo '${text}'`)}
  esac
}
complete -o filenames -F _tidegate tidegate
`
}

function zshScript(words: readonly CommandWords[]): string {
  return `autoload -U +X bashcompinit && bashcompinit
${bashScript(words)}`
}

function fishScript(words: readonly CommandWords[]): string {
  const lines = words.flatMap(({ path, words: own }) => {
    const condition =
      path === ''
        ? '__fish_use_subcommand'
        : path
            .split(' ')
            .map((name) => `__fish_seen_subcommand_from ${name}`)
            .join('; and ')
    return own.map(
      (word) =>
        `complete -c tidegate -n '${condition}' ${word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`}`,
    )
  })
  return `${lines.join('\n')}\n`
}

/** Loads all commands by name. Only completion and help need the code of every command. */
export type LoadCommands = () => Promise<ReadonlyMap<string, DefineCommand>>

/** The program with every command and flag. */
export async function fullProgram(loadCommands: LoadCommands, session: Session): Promise<Command> {
  const program = new Command('tidegate').version(packageVersion())
  for (const [name, define] of await loadCommands()) {
    const command = new Command(name)
    define(command, session)
    program.addCommand(command)
  }
  return program
}
