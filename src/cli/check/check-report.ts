import type { AppError, ErrorDetail } from '../../errors/app-error.js'
import { formText } from '../input/read-definitions.js'
import type { ReadForm } from '../input/read-definitions.js'
import type { Position } from '../input/source-node.js'
import type { Colours } from '../output/colours.js'
import type { LocatedStage } from './locate-stages.js'
import { oneLine } from '../output/display-width.js'
import { detailText } from '../output/report-failure.js'
import { count } from '../output/text-table.js'

/** A reason for a denial. */
export interface Denial {
  readonly package: string
  readonly text: string
  /** The stage that the text names, if known. */
  readonly stage?: LocatedStage | undefined
}

/** The origin of a result. */
interface Origin {
  readonly file: string
  readonly name: string | undefined
  /** The start of the definition; undefined if it is not in a file or cannot be parsed. */
  readonly position?: Position
}

/** Result of a definition. */
export interface Finding extends Origin {
  readonly as: ReadForm
  readonly allowed: boolean
  readonly denials: readonly Denial[]
}
export interface Unchecked extends Origin {
  readonly error: AppError
}

export type CheckResult = Finding | Unchecked

export interface CheckSummary {
  readonly files: number
  readonly pipelines: number
  readonly allowed: number
  readonly denied: number
  readonly errors: number
}

export function isUnchecked(result: CheckResult): result is Unchecked {
  return 'error' in result
}

/** A reason of a denial, or an error. */
export interface Problem {
  readonly file: string
  readonly name: string | undefined
  /** Undefined for an error. */
  readonly package: string | undefined
  readonly text: string
  readonly position: Position | undefined
}

/** Returns the reasons of a result, or its error. */
export function problemsOf(result: CheckResult): Problem[] {
  const { file, name, position } = result
  if (!isUnchecked(result))
    return result.denials.map(({ package: packageName, text, stage }) => {
      return { file, name, package: packageName, text, position: stage?.position ?? position }
    })
  const { message, details } = result.error
  const text = [message, ...details.map(detailText)].join('\n')
  return [{ file, name, package: undefined, text, position }]
}

/** Returns the totals of a report. */
export function summarise(results: readonly CheckResult[]): CheckSummary {
  const findings = results.filter((result): result is Finding => !isUnchecked(result))
  const allowed = findings.filter((finding) => finding.allowed).length
  return {
    files: new Set(results.map(({ file }) => file)).size,
    pipelines: findings.length,
    allowed,
    denied: findings.length - allowed,
    errors: results.length - findings.length,
  }
}

/** Returns the report as JSON. `warnings` are about policies. */
export function checkReportJson(
  results: readonly CheckResult[],
  warnings: readonly ErrorDetail[] = [],
): object {
  const files = results.map((result) => {
    const { file, name = null, position } = result
    const origin = { file, name, ...position }
    if (!isUnchecked(result)) {
      const { as, allowed, denials } = result
      return { ...origin, as, allowed, denials: denials.map((denial) => denialJson(denial, position)) }
    }
    const { code, message, details } = result.error
    return { ...origin, error: { code, message, ...(details.length > 0 ? { errors: details } : {}) } }
  })
  return { files, summary: summarise(results), warnings }
}

function denialJson({ package: name, text, stage }: Denial, position: Position | undefined): object {
  const named = stage === undefined ? {} : { stage: stage.name ?? stage.refId }
  return { package: name, text, ...(stage?.position ?? position), ...named }
}

/** Returns the text report of a check of policies only. */
export function policyReportText(packages: number, warnings: number): string {
  return `${count(packages, 'package')}: ${count(warnings, 'warning')}\n`
}

/** Returns the text report: definitions with their reasons, and the totals. */
export function checkReportText(results: readonly CheckResult[], colours: Colours): string {
  return `${results.map((result) => resultText(result, colours)).join('')}\n${totalsText(results, colours)}\n`
}

/** Returns the totals of a report as a line of text. */
export function totalsText(results: readonly CheckResult[], colours: Colours): string {
  const { files, pipelines, allowed, denied, errors } = summarise(results)
  const parts = [
    `${allowed} allowed`,
    denied > 0 ? colours.bad(`${denied} denied`) : `${denied} denied`,
    ...(errors > 0 ? [colours.bad(count(errors, 'error'))] : []),
  ]
  const forms = new Set(results.flatMap((result) => (isUnchecked(result) ? [] : [formText(result.as)])))
  const evaluatedAs = forms.size === 0 ? '' : `; evaluated as ${[...forms].join(', or as ')}`
  return `${count(pipelines, 'pipeline')} in ${count(files, 'file')}: ${parts.join(', ')}${evaluatedAs}`
}

function resultText(result: CheckResult, colours: Colours): string {
  const title =
    result.name === undefined
      ? oneLine(result.file)
      : `${oneLine(result.file)} ${colours.strong(`"${oneLine(result.name)}"`)}`
  if (isUnchecked(result)) {
    const { message, details } = result.error
    const lines = details.map((detail) => `  ${oneLine(detailText(detail))}\n`).join('')
    return `${colours.bad('error')}    ${title}\n  ${oneLine(message)}\n${lines}`
  }
  if (result.allowed) return `${colours.good('allowed')}  ${title}\n`
  const reasons = result.denials.map((denial) => denialText(result.file, denial, colours)).join('')
  return `${colours.bad('denied')}   ${title}\n${reasons}`
}

function denialText(file: string, { package: name, text, stage }: Denial, colours: Colours): string {
  const reason = `  ${colours.faint(`${oneLine(name)}:`)} ${oneLine(text)}`
  if (stage === undefined) return `${reason}\n`
  const { line, column } = stage.position
  return `${reason} ${colours.faint(`(${oneLine(file)}:${line}:${column})`)}\n`
}
