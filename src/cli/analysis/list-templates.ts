import { createReadStream } from 'node:fs'

import {
  describeLine,
  EventJoiner,
  TemplateTable,
  type LogEvent,
  type Templates,
} from '../../canary/index.js'
import { withoutColours } from '../../lib/text/shown-text.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { makeColours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import { count, textTable } from '../output/text-table.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { AppError } from '../../errors/app-error.js'
import { requireText, unreadableFile, STDIN } from '../input/read-document.js'

/** Lines per write. */
const WRITTEN_TOGETHER = 10_000

/** Groups the lines of a log and prints their templates. Raises `invalid` if it cannot be read. */
export async function listTemplates(
  file: string,
  { format }: OutputOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const { rows, templates } = await group(file, terminal)
  if (format === 'json') writeEachLine(rows, templates, terminal)
  else terminal.out(tableOf(rows.length, templates, terminal))
  if (templates.otherLines > 0) {
    terminal.err(
      `${count(templates.otherLines, 'event')} did not fit into the full template table and share the template <*>\n`,
    )
  }
  return EXIT.fine
}

interface Grouped {
  /** Row of the template table for each line. */
  readonly rows: RowList
  readonly templates: Templates
}

async function group(file: string, terminal: Terminal): Promise<Grouped> {
  const progress = new Progress(terminal)
  const table = new TemplateTable()
  const rows = new RowList()
  const joiner = new EventJoiner()
  const take = (event: LogEvent | undefined): void => {
    if (event !== undefined) rows.add(table.add(event.text), event.lines)
  }
  for await (const lines of readLines(file)) {
    for (const line of lines) {
      const content = contentOf(line)
      if (content === undefined) take(joiner.add(describeLine(withoutColours(line))))
      else {
        take(joiner.end())
        rows.add(table.add(withoutColours(content).normalize('NFC')), 1)
      }
    }
    progress.show(`grouping … ${rows.length} lines`)
  }
  take(joiner.end())
  progress.end()
  return { rows, templates: table.finish() }
}

/** Returns the text of a JSON line; undefined for plain text. */
function contentOf(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const parsed = JSON.parse(line) as { readonly content?: unknown }
    return typeof parsed.content === 'string' ? parsed.content : undefined
  } catch {
    return undefined
  }
}

function writeEachLine(rows: RowList, { templates, idOfRow }: Templates, terminal: Terminal): void {
  const printed = templates.map(({ id, text }) => `${JSON.stringify({ cluster: id, template: text })}\n`)
  let batch: string[] = []
  for (const row of rows) {
    batch.push(printed[(idOfRow[row] ?? 0) - 1] ?? '')
    if (batch.length < WRITTEN_TOGETHER) continue
    terminal.out(batch.join(''))
    batch = []
  }
  terminal.out(batch.join(''))
}

function tableOf(lines: number, { templates }: Templates, terminal: Terminal): string {
  const { strong } = makeColours(terminal.hasColours)
  const summary = `${count(templates.length, 'template')} in ${count(lines, 'line')}\n`
  if (templates.length === 0) return summary
  const ordered = templates.toSorted((a, b) => b.lines - a.lines || a.id - b.id)
  const rows = ordered.map(({ id, lines: events, text }) => [String(events), String(id), text])
  const [head = '', ...body] = textTable([['EVENTS', 'ID', 'TEMPLATE'], ...rows], [0, 1]).split('\n')
  return [strong(head), ...body, summary].join('\n')
}

const FIRST_CAPACITY = 4096

/** A growing list of 32-bit integers, since logs may have millions of lines. */
class RowList {
  #rows = new Int32Array(FIRST_CAPACITY)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Appends a number `times` times. */
  add(row: number, times: number): void {
    if (this.#length + times > this.#rows.length) this.#grow(this.#length + times)
    this.#rows.fill(row, this.#length, this.#length + times)
    this.#length += times
  }

  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#length; at += 1) yield this.#rows[at] ?? 0
  }

  #grow(least: number): void {
    const larger = new Int32Array(Math.max(least, this.#rows.length * 2))
    larger.set(this.#rows)
    this.#rows = larger
  }
}

const STDIN_DESCRIPTOR = 0
/** Longer lines are truncated, so that a file without line ends does not fill the memory. */
const MAX_LINE_CHARACTERS = 1024 * 1024

/**
 * Reads the lines of a file, or of standard input for `-`, in chunks. Lines end with `\n` or
 * `\r\n`, and malformed UTF-8 is replaced. Raises `invalid` with the file's name if it cannot be
 * read, or is compressed or UTF-16.
 */
async function* readLines(file: string): AsyncGenerator<readonly string[]> {
  const stream =
    file === STDIN ? createReadStream('', { fd: STDIN_DESCRIPTOR, autoClose: false }) : createReadStream(file)
  const decoder = new TextDecoder()
  const name = file === STDIN ? 'standard input' : file
  let rest = ''
  let isFirst = true
  try {
    for await (const chunk of stream) {
      if (isFirst) requireText(chunk as Buffer, name)
      isFirst = false
      const lines = decoder.decode(chunk as Buffer, { stream: true }).split('\n')
      lines[0] = rest + (lines[0] ?? '')
      rest = shortened(lines.pop() ?? '')
      yield lines.map(withoutReturn)
    }
  } catch (raw) {
    if (raw instanceof AppError) throw raw
    throw unreadableFile(name, raw)
  }
  rest += decoder.decode()
  if (rest !== '') yield [withoutReturn(rest)]
}

function shortened(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? line.slice(0, MAX_LINE_CHARACTERS) : line
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
