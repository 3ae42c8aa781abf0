import { isUnchecked } from '../check/check-report.js'
import type { CheckResult } from '../check/check-report.js'
import type { Colours } from '../output/colours.js'
import { count } from '../output/text-table.js'

interface ApplicationResult {
  allowed: number
  /** Those that are denied or could not be checked. */
  readonly findings: CheckResult[]
}

interface Summary {
  readonly applications: number
  readonly pipelines: number
  readonly denied: number
  readonly errors: number
}

/** What was found, by application; of pipelines that are allowed only their number is kept. */
export class EstateReport {
  readonly #applications = new Map<string, ApplicationResult>()

  add(result: CheckResult): void {
    const known = this.#applications.get(result.file) ?? { allowed: 0, findings: [] }
    this.#applications.set(result.file, known)
    if (!isUnchecked(result) && result.allowed) known.allowed += 1
    else known.findings.push(result)
  }

  summary(): Summary {
    const all = [...this.#applications.values()]
    const findings = all.flatMap((application) => application.findings)
    const errors = findings.filter(isUnchecked).length
    const allowed = all.reduce((sum, application) => sum + application.allowed, 0)
    return {
      applications: all.length,
      pipelines: allowed + findings.length,
      denied: findings.length - errors,
      errors,
    }
  }

  json(): unknown {
    const applications = this.#inOrder().map(([application, { allowed, findings }]) => ({
      application,
      allowed,
      findings: findings.map((finding) =>
        isUnchecked(finding)
          ? { pipeline: finding.name, error: { code: finding.error.code, message: finding.error.message } }
          : { pipeline: finding.name, denials: finding.denials },
      ),
    }))
    return { applications, summary: this.summary() }
  }

  text(colours: Colours): string {
    const { applications, pipelines, denied, errors } = this.summary()
    const parts = [
      denied > 0 ? colours.bad(`${denied} denied`) : 'none denied',
      ...(errors > 0 ? [colours.bad(count(errors, 'error'))] : []),
    ]
    const sum = `${count(pipelines, 'pipeline')} of ${count(applications, 'application')}: ${parts.join(', ')}`
    return `${this.#inOrder()
      .map(([application, result]) => applicationText(application, result, colours))
      .join('')}${sum}\n`
  }

  #inOrder(): [string, ApplicationResult][] {
    return [...this.#applications].sort(([a], [b]) => a.localeCompare(b))
  }
}

function applicationText(
  application: string,
  { allowed, findings }: ApplicationResult,
  colours: Colours,
): string {
  if (findings.length === 0) return ''
  const title = `${colours.strong(application)}  ${findings.length} of ${allowed + findings.length}\n`
  return `${title}${findings.map((finding) => findingText(finding, colours)).join('')}\n`
}

function findingText(finding: CheckResult, colours: Colours): string {
  const name = finding.name ?? '(without a name)'
  if (isUnchecked(finding)) return `  ${colours.bad('error')}   ${name}\n    ${finding.error.message}\n`
  const reasons = finding.denials.map(
    (denial) => `    ${colours.faint(`${denial.package}:`)} ${denial.text}\n`,
  )
  return `  ${colours.bad('denied')}  ${name}\n${reasons.join('')}`
}
