import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { PROJECT_ROOT } from '../project-root.js'

/** A command of a page, as a reader would type it. */
export interface DocumentedCommand {
  readonly page: string
  /** Line number, from 1. */
  readonly row: number
  readonly text: string
  /** The output shown for it: in the same block, or for `curl` as JSON in the next one. */
  readonly output: string | undefined
}

/** Start of a command on a line without a prompt. */
const PROGRAM =
  /^(?:[A-Za-z_]+=\S+ )*(?:npx|tidegate|curl|make|npm|node|docker|podman|helm|kubectl|systemctl|pg_\w+|psql|openssl|promtool|opa|cp|git)(?: |$)/
/** Generated pages, which show how commands are used and not what to type. */
const GENERATED = ['reference/commands.md', 'reference/operations.md', 'reference/routes.md']
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'policies/README.md',
  ...readdirSync(join(PROJECT_ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !GENERATED.includes(file))
    .map((file) => `docs/${file}`)
    .sort(),
]

/** Every `tidegate …` inside a sentence of a page. */
export function mentionedCommands(): string[] {
  const spans = PAGES.flatMap((page) => [
    ...readFileSync(join(PROJECT_ROOT, page), 'utf8').matchAll(/`tidegate ([a-z][^`]*)`/g),
  ])
  return [...new Set(spans.map(([, text = '']) => text.replaceAll(/\s+/g, ' ')))]
}

interface Block {
  readonly firstRow: number
  /** Whether the block is marked as JSON and shows the response to the command above. */
  readonly isJson: boolean
  readonly lines: readonly string[]
}

/** All commands of the documentation: of its fenced and of its indented blocks. */
export function documentedCommands(): DocumentedCommand[] {
  return PAGES.flatMap((page) => {
    const text = readFileSync(join(PROJECT_ROOT, page), 'utf8')
    const blocks = blocksOf(text.split('\n'))
    return blocks.flatMap((block, index) => {
      const commands = commandsOf(page, block)
      const next = blocks[index + 1]
      if (commands.length !== 1 || next?.isJson !== true || commands[0]?.text.startsWith('curl ') !== true)
        return commands
      return commands.map((command) => ({ ...command, output: `${next.lines.join('\n')}\n` }))
    })
  })
}

/** Fenced and indented blocks without their indentation, so that those inside lists are found too. */
function blocksOf(lines: readonly string[]): Block[] {
  const blocks: (Block & { readonly lines: string[] })[] = []
  let kind: 'fence' | 'indent' | undefined
  let indentation = 0
  for (const [index, line] of lines.entries()) {
    const isFence = line.trimStart().startsWith('```')
    const isIndented = line.startsWith('    ') && (kind === 'indent' || (lines[index - 1] ?? '') === '')
    if (kind === 'fence' ? isFence : !isFence && !isIndented) {
      kind = undefined
      continue
    }
    if (kind === undefined || isFence) {
      kind = isFence ? 'fence' : 'indent'
      indentation = line.length - line.trimStart().length
      const isJson = line.trim() === '```json'
      blocks.push({ firstRow: index + (isFence ? 2 : 1), isJson, lines: [] })
      if (isFence) continue
    }
    blocks.at(-1)?.lines.push(line.slice(indentation))
  }
  return blocks
}

/**
 * With prompts, the text between two of them is the output of the first. Without, every line that
 * starts like a command is one.
 */
function commandsOf(page: string, { firstRow, lines }: Block): DocumentedCommand[] {
  const hasPrompts = lines.some((line) => line.startsWith('$ '))
  const commands: { page: string; row: number; text: string; output: string | undefined }[] = []
  for (const [index, line] of lines.entries()) {
    const last = commands.at(-1)
    const before = lines[index - 1] ?? ''
    if (last !== undefined && before.endsWith('\\') && last.output === undefined) last.text += `\n${line}`
    else if (hasPrompts ? line.startsWith('$ ') : PROGRAM.test(line)) {
      const text = hasPrompts ? line.slice(2) : line
      commands.push({ page, row: firstRow + index, text, output: undefined })
    } else if (hasPrompts && last !== undefined) last.output = `${last.output ?? ''}${line}\n`
  }
  return commands
}
