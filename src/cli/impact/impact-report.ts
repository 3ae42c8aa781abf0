import { CHANGES } from '../../impact/compare-answers.js'
import type { Change } from '../../impact/compare-answers.js'
import type { ChangeCounts, Flip, ImpactResult } from '../../impact/impact-result.js'
import { escapeMarkdown } from '../output/escape-markdown.js'
import { localTime } from '../output/local-time.js'
import { count, textTable } from '../output/text-table.js'

export const IMPACT_FORMATS = ['csv', 'markdown'] as const
export type ImpactFormat = (typeof IMPACT_FORMATS)[number]

const CHANGE_TEXTS: Readonly<Record<Change, string>> = {
  allow_to_deny: 'allow → deny',
  deny_to_allow: 'deny → allow',
  new_error: 'new error',
  error_gone: 'error gone',
  reasons: 'other reasons',
  value: 'other value',
  warnings: 'other warnings',
}
const REASON_TEXTS: Readonly<Record<string, string>> = {
  redacted: 'redacted',
  cut: 'cut',
  no_input: 'without their input',
  ad_hoc_query: 'ad-hoc queries',
  unrecorded_call: 'calling another host without a recorded answer',
}

/** Rows of the table for people. */
const MAX_ROWS = 50

/** Returns the report for people. */
export function impactText(result: ImpactResult, columns = Infinity): string {
  const flips = result.flips
    .slice(0, MAX_ROWS)
    .map((flip) => [
      CHANGE_TEXTS[flip.change],
      flip.origin === 'decision' ? localTime(flip.time) : flip.origin,
      flip.application ?? '',
      subjectOf(flip),
      reasonsText(flip),
    ])
  const omitted = result.flips.length - flips.length + result.flipsLeftOut
  const heads = ['change', 'time', 'application', 'what', 'reasons']
  return [
    `${summary(result).join('\n')}\n`,
    ...groupTable(
      'package',
      result.byPackage.map(({ package: name, changes }) => [name, changes]),
    ),
    ...groupTable(
      'application',
      result.byApplication.map(({ application, changes }) => [application, changes]),
    ),
    ...(flips.length === 0 ? [] : [`\n${textTable([heads, ...flips], [], columns)}`]),
    ...(omitted === 0 ? [] : [`${omitted} more; --format csv or json lists up to 1000\n`]),
  ].join('')
}

/** Returns a comment for a pull request. */
export function impactMarkdown(result: ImpactResult): string {
  const [head = '', ...rest] = summary(result)
  const rows: string[] = []
  let length = 0
  for (const flip of result.flips) {
    const cells = [CHANGE_TEXTS[flip.change], flip.application ?? '', subjectOf(flip), reasonsText(flip)]
    const row = `| ${cells.map(escapeMarkdown).join(' | ')} |\n`
    length += row.length
    if (length > MAX_TABLE) break
    rows.push(row)
  }
  const omitted = result.flips.length - rows.length + result.flipsLeftOut
  const packages = result.byPackage.map(
    ({ package: name, changes }) =>
      `| ${escapeMarkdown(name)} | ${CHANGES.map((change) => changes[change] ?? 0).join(' | ')} |\n`,
  )
  return [
    `### ${escapeMarkdown(head)}\n\n`,
    ...rest.map((line) => `${escapeMarkdown(line)}\n\n`),
    ...(packages.length === 0
      ? []
      : [
          `| Package | ${CHANGES.map((change) => CHANGE_TEXTS[change]).join(' | ')} |\n|${' --- |'.repeat(CHANGES.length + 1)}\n`,
          ...packages,
          '\n',
        ]),
    ...(rows.length === 0
      ? []
      : ['| Change | Application | What | Reasons |\n| --- | --- | --- | --- |\n', ...rows]),
    ...(omitted === 0 ? [] : [`\n${omitted} more are not listed.\n`]),
  ].join('')
}

/** Maximum length of the table, in UTF-16 units. A comment on GitHub has at most 65,536 characters. */
const MAX_TABLE = 50_000

/** Returns all listed flips as CSV (RFC 4180). */
export function impactCsv({ flips }: ImpactResult): string {
  const heads = [
    'change',
    'origin',
    'id',
    'name',
    'time',
    'kind',
    'path',
    'application',
    'executionId',
    'packages',
    'before',
    'after',
  ]
  const rows = flips.map((flip) => [
    flip.change,
    flip.origin,
    flip.id,
    flip.name ?? '',
    flip.time,
    flip.kind,
    flip.path,
    flip.application ?? '',
    flip.executionId ?? '',
    flip.packages.join(' '),
    sideText(flip.before),
    sideText(flip.after),
  ])
  return [heads, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

/** Quotes a cell. A leading quote keeps spreadsheets from reading names as formulas. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function summary(result: ImpactResult): string[] {
  const { candidate, against, compared, changes, notReplayable, bothFail, cost } = result
  const kinds = CHANGES.flatMap((change) => {
    const found = changes[change]
    return found === undefined ? [] : [`${found} ${CHANGE_TEXTS[change]}`]
  })
  const changed = Object.values(changes).reduce((sum, found) => sum + found, 0)
  const missing = Object.entries(notReplayable.byReason).map(
    ([reason, found]) => `${found} ${REASON_TEXTS[reason] ?? reason}`,
  )
  return [
    changed === 0
      ? `No change in ${count(compared.total, 'answer')}`
      : `${changed} of ${count(compared.total, 'answer')} would change: ${kinds.join(', ')}`,
    `${candidate.name} (${candidate.revision}) compared with ${against.name} (${against.revision}) over ${count(compared.decisions, 'decision')}, ${count(compared.pipelines, 'pipeline')} and ${count(compared.inputs, 'file')}.`,
    ...(bothFail === 0 ? [] : [`Neither can evaluate ${count(bothFail, 'input')}.`]),
    ...(notReplayable.total === 0
      ? []
      : [`Not compared, since parts of them are missing: ${missing.join(', ')}.`]),
    `Time per evaluation: ${cost.after.meanMs} ms (p99 ${cost.after.p99Ms} ms), before ${cost.before.meanMs} ms (p99 ${cost.before.p99Ms} ms).`,
    ...candidate.warnings.map(({ message }) => `Warning: ${message}.`),
    ...result.notes,
  ]
}

function groupTable(noun: string, groups: readonly (readonly [string, ChangeCounts])[]): string[] {
  if (groups.length === 0) return []
  const shown = CHANGES.filter((change) => groups.some(([, counts]) => counts[change] !== undefined))
  const rows = groups.map(([name, counts]) => [...shown.map((change) => String(counts[change] ?? 0)), name])
  const heads = [...shown.map((change) => CHANGE_TEXTS[change]), noun]
  return [`\n${textTable([heads, ...rows], [...shown.keys()])}`]
}

function subjectOf({ origin, id, name, path, kind }: Flip): string {
  if (origin !== 'decision') return name === undefined || name === id ? id : `${name} (${id})`
  return kind === 'static' ? id : `${id} ${path}`
}

/** Returns reasons that are gone after −, and new ones after +. */
function reasonsText({ before, after, change }: Flip): string {
  if (change === 'value' || change === 'new_error' || change === 'error_gone')
    return `− ${sideText(before)} + ${sideText(after)}`
  const [old, now] =
    change === 'warnings'
      ? [linesIn(before.warnings), linesIn(after.warnings)]
      : [linesIn(before.reasons), linesIn(after.reasons)]
  const gone = old.filter((line) => !now.includes(line)).map((line) => `− ${line}`)
  const added = now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`)
  return [...gone, ...added].join('; ')
}

function linesIn(reasons: Flip['before']['reasons'] = []): string[] {
  return reasons.flatMap(({ package: name, deny }) => deny.map((text) => `${name}: ${text}`))
}

function sideText(side: Flip['before']): string {
  const { outcome, value, error } = side
  const lines = linesIn(side.reasons)
  if (error !== undefined) return `${outcome}: ${error}`
  if (value !== undefined) return `${outcome}: ${JSON.stringify(value)}`
  return lines.length === 0 ? outcome : `${outcome}: ${lines.join('; ')}`
}
