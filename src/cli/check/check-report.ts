import type { AppError, ErrorDetail } from '../../errors/app-error.js'
import { formText } from '../input/read-definitions.js'
import type { ReadForm } from '../input/read-definitions.js'
import type { Colours } from '../output/colours.js'
import { oneLine } from '../output/display-width.js'
import { detailText } from '../output/report-failure.js'
import { count } from '../output/text-table.js'

/** Result of a definition. */
export interface Finding {
  readonly file: string
  readonly name: string | undefined
  readonly as: ReadForm
  readonly allowed: boolean
  readonly denials: readonly { readonly package: string; readonly text: string }[]
}
export interface Unchecked {
  readonly file: string
  readonly name: string | undefined
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
    const { file, name = null } = result
    if (!isUnchecked(result)) {
      const { as, allowed, denials } = result
      return { file, name, as, allowed, denials }
    }
    const { code, message, details } = result.error
    return { file, name, error: { code, message, ...(details.length > 0 ? { errors: details } : {}) } }
  })
  return { files, summary: summarise(results), warnings }
}

/** Returns the text report of a check of policies only. */
export function policyReportText(packages: number, warnings: number): string {
  return `${count(packages, 'package')}: ${count(warnings, 'warning')}\n`
}

/** Returns the text report: definitions with their reasons, and the totals. */
export function checkReportText(results: readonly CheckResult[], colours: Colours): string {
  const { files, pipelines, allowed, denied, errors } = summarise(results)
  const parts = [
    `${allowed} allowed`,
    denied > 0 ? colours.bad(`${denied} denied`) : `${denied} denied`,
    ...(errors > 0 ? [colours.bad(count(errors, 'error'))] : []),
  ]
  const forms = new Set(results.flatMap((result) => (isUnchecked(result) ? [] : [formText(result.as)])))
  const evaluatedAs = forms.size === 0 ? '' : `; evaluated as ${[...forms].join(', or as ')}`
  const sum = `${count(pipelines, 'pipeline')} in ${count(files, 'file')}: ${parts.join(', ')}${evaluatedAs}`
  return `${results.map((result) => resultText(result, colours)).join('')}\n${sum}\n`
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
  const reasons = result.denials
    .map((denial) => `  ${colours.faint(`${oneLine(denial.package)}:`)} ${oneLine(denial.text)}\n`)
    .join('')
  return `${colours.bad('denied')}   ${title}\n${reasons}`
}
