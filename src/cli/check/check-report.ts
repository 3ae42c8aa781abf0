import type { DecisionWarning } from '../../enforcement/verdict.js'
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

/** A reason that does not deny. */
export interface ReportedWarning extends Denial, Pick<DecisionWarning, 'kind' | 'exception'> {}

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
  readonly warnings: readonly ReportedWarning[]
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
  /** Reasons that do not deny. */
  readonly warnings: number
}

export function isUnchecked(result: CheckResult): result is Unchecked {
  return 'error' in result
}

/** A reason of a denial, a warning, or an error. */
export interface Problem {
  readonly level: 'error' | 'warning'
  readonly file: string
  readonly name: string | undefined
  /** Undefined for an error. */
  readonly package: string | undefined
  readonly text: string
  readonly position: Position | undefined
}

/** Returns the reasons of a result, denials first, or its error. */
export function problemsOf(result: CheckResult): Problem[] {
  const { file, name, position } = result
  if (isUnchecked(result)) {
    const { message, details } = result.error
    const text = [message, ...details.map(detailText)].join('\n')
    return [{ level: 'error', file, name, package: undefined, text, position }]
  }
  const toProblem = ({ package: packageName, text, stage }: Denial, level: Problem['level']): Problem => {
    return { level, file, name, package: packageName, text, position: stage?.position ?? position }
  }
  return [
    ...result.denials.map((denial) => toProblem(denial, 'error')),
    ...result.warnings.map((warning) =>
      toProblem({ ...warning, text: warning.text + excusedBy(warning) }, 'warning'),
    ),
  ]
}

/** Returns which exception excused a denial, or an empty string. */
export function excusedBy({ exception }: ReportedWarning): string {
  if (exception === undefined) return ''
  return ` (excused by exception ${exception.id} of ${exception.owner} until ${exception.until})`
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
    warnings: findings.reduce((sum, { warnings }) => sum + warnings.length, 0),
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
      const { as, allowed, denials, warnings } = result
      return {
        ...{ ...origin, as, allowed, denials: denials.map((denial) => denialJson(denial, position)) },
        warnings: warnings.map(({ kind, exception, ...warning }) => {
          return { ...denialJson(warning, position), kind, exception }
        }),
      }
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
  const { files, pipelines, allowed, denied, errors, warnings } = summarise(results)
  const parts = [
    `${allowed} allowed`,
    denied > 0 ? colours.bad(`${denied} denied`) : `${denied} denied`,
    ...(errors > 0 ? [colours.bad(count(errors, 'error'))] : []),
    ...(warnings > 0 ? [colours.warning(count(warnings, 'warning'))] : []),
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
  const verdict = result.allowed ? `${colours.good('allowed')} ` : `${colours.bad('denied')}  `
  const reasons = [
    ...result.denials.map((denial) => denialText(result.file, denial, colours)),
    ...result.warnings.map((warning) => warningText(result.file, warning, colours)),
  ]
  return `${verdict} ${title}\n${reasons.join('')}`
}

/** Returns a warning as a line of text. */
function warningText(file: string, warning: ReportedWarning, colours: Colours): string {
  const text = warning.text + excusedBy(warning)
  return denialText(file, { ...warning, text }, colours).replace('  ', `  ${colours.warning('warning')} `)
}

function denialText(file: string, { package: name, text, stage }: Denial, colours: Colours): string {
  const reason = `  ${colours.faint(`${oneLine(name)}:`)} ${oneLine(text)}`
  if (stage === undefined) return `${reason}\n`
  const { line, column } = stage.position
  return `${reason} ${colours.faint(`(${oneLine(file)}:${line}:${column})`)}\n`
}
