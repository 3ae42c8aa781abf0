import { EventJoiner, TemplateTable, type LogEvent, type Templates } from '../../canary/index.js'
import { withoutColours } from '../../lib/text/shown-text.js'
import { EXIT } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import { makeColours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import { count, textTable } from '../output/text-table.js'
import { readLines } from '../input/read-lines.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { RowList } from './row-list.js'

/** Lines that are written at once. */
const WRITTEN_TOGETHER = 10_000

/** Groups the lines of one log and prints their templates. Raises `invalid` when it cannot be read. */
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
      `${count(templates.otherLines, 'event')} came when the table of templates was full and share one: <*>\n`,
    )
  }
  return EXIT.fine
}

interface Grouped {
  /** The table's row for each line. */
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
      if (content === undefined) take(joiner.add(withoutColours(line)))
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

/** The text of a line that is a JSON object; undefined for plain text. */
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
