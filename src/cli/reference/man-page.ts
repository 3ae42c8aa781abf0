import type { Command } from 'commander'

import { packageVersion } from '../../lib/package-root.js'

/** The manual pages of a program and its commands, by their names: `tidegate-gates-list`. */
export function manPages(program: Command): ReadonlyMap<string, string> {
  return new Map(pagesOf(program, []))
}

function pagesOf(command: Command, before: readonly string[]): [string, string][] {
  const path = [...before, command.name()]
  return [[path.join('-'), pageOf(command, path)], ...command.commands.flatMap((sub) => pagesOf(sub, path))]
}

/** man(7): macros begin a line with a dot, so that no text may. */
function pageOf(command: Command, path: readonly string[]): string {
  const name = path.join('-')
  const lines = [
    `.TH ${roff(name.toUpperCase())} 1 "" "tidegate ${roff(packageVersion())}"`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(summaryOf(command))}`,
    '.SH SYNOPSIS',
    `.B ${roff(path.join(' '))}`,
    roff(command.usage()),
    '.SH DESCRIPTION',
    roff(command.description() || summaryOf(command)),
    ...listed(
      'COMMANDS',
      command.commands.map((sub) => [sub.name(), summaryOf(sub)]),
    ),
    ...listed(
      'ARGUMENTS',
      command.registeredArguments.map((each) => [each.name(), each.description]),
    ),
    ...listed(
      'OPTIONS',
      command.options.filter(({ hidden }) => !hidden).map((each) => [each.flags, each.description]),
    ),
    '.SH EXIT STATUS',
    '0 fine, 1 a denial or a failed test, 2 wrong use or an error.',
    ...seeAlso(command, path),
  ]
  return `${lines.join('\n')}\n`
}

function summaryOf(command: Command): string {
  return command.summary() || (command.description().split(/(?<=\.)\s/)[0] ?? '').replace(/\.$/, '')
}

function listed(title: string, entries: readonly (readonly [string, string])[]): string[] {
  if (entries.length === 0) return []
  return [`.SH ${title}`, ...entries.flatMap(([term, text]) => ['.TP', `.B ${roff(term)}`, roff(text)])]
}

function seeAlso(command: Command, path: readonly string[]): string[] {
  const others = [
    ...(path.length > 1 ? [path.slice(0, -1).join('-')] : []),
    ...command.commands.map((sub) => [...path, sub.name()].join('-')),
  ]
  return others.length === 0 ? [] : ['.SH SEE ALSO', others.map((name) => `${roff(name)}(1)`).join(', ')]
}

/** Text as man shows it: what groff would read as its own is escaped (groff(7), 5.6). */
function roff(text: string): string {
  return (
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replace(/^(?=[.'])/gm, '\\&')
      .replace(/\s*\n\s*/g, ' ')
      // groff(7), 5.10: any sign by its code point, whatever the reader's character set.
      .replace(/[^\x20-\x7e]/gu, (sign) => `\\[u${codeOf(sign)}]`)
  )
}

function codeOf(sign: string): string {
  return (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
