import type { Command } from 'commander'

import { withListing } from '../../orchestrator/list-definitions.js'
import { checkDefinition, openChecking } from '../check/check-definition.js'
import type { Checking } from '../check/check-definition.js'
import { EXIT, watchFiles } from '../session/session.js'
import type { Session } from '../session/session.js'
import { withRequests } from '../input/evaluate-once.js'
import { reportWarnings } from '../input/find-warnings.js'
import { openPolicies, policyFiles } from '../input/open-policies.js'
import { addExceptionsOption, readExceptions } from '../input/read-exceptions.js'
import type { ExceptionOptions } from '../input/read-exceptions.js'
import type { PolicyRequests } from '../../rego/index.js'
import { makeColours } from '../output/colours.js'
import type { Colours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import { addOutputOptions, addPolicyOptions, examples, outJson } from '../session/shared-options.js'
import type { OutputOptions, PolicyOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { withStorage } from '../session/connect-orchestrator.js'
import type { StorageOptions } from '../session/connect-orchestrator.js'
import { addWatchOption } from '../session/watch.js'
import type { Definition } from '../../orchestrator/definition.js'
import { pipelineName } from '../../orchestrator/store-report.js'
import { excusedBy, isUnchecked } from '../check/check-report.js'
import type { CheckResult, Finding } from '../check/check-report.js'
import { applicationKey } from '../../events/registry/registry-change.js'
import { count } from '../output/text-table.js'

interface EstateCheckOptions extends PolicyOptions, StorageOptions, OutputOptions, ExceptionOptions {
  readonly application?: string
}

/** `tidegate pipelines check`: evaluates the static policies on all pipelines. */
export function defineEstateCheck(command: Command, session: Session): void {
  addOutputOptions(addWatchOption(addExceptionsOption(addPolicyOptions(command))))
    .description(
      'Evaluates the static policies on all pipelines of the orchestrator, by the levels of packages and the exceptions of --exceptions, and reports by application. Exits with 1 if one is denied, with 2 if one cannot be checked.',
    )
    .option('--storage-url <url>', 'URL of the storage service (default: orchestrator.storageUrl)')
    .option('--application <name>', 'only this application')
    .addHelpText('after', examples('tidegate pipelines check', 'tidegate pipelines check --application shop'))
    .action(async (options: EstateCheckOptions) => {
      const { terminal } = session
      await watchFiles(session, [...policyFiles(options, terminal), options.exceptions])
      const report = await checkEstate(options, terminal)
      if (options.format === 'json') outJson(terminal, report.json())
      else terminal.out(report.text(makeColours(terminal.hasColours)))
      const { errors, denied } = report.summary()
      session.exitCode = errors > 0 ? EXIT.error : denied > 0 ? EXIT.denied : EXIT.fine
    })
}

async function checkEstate(options: EstateCheckOptions, terminal: Terminal): Promise<EstateReport> {
  const policies = await openPolicies(options, terminal)
  const checking = openChecking(policies, { exceptions: await readExceptions(options, terminal) })
  reportWarnings(checking.problems, options.format, terminal)
  const progress = new Progress(terminal)
  const report = new EstateReport()
  await withStorage(options, terminal, async (connection) => {
    const checkAll = (requests: PolicyRequests) =>
      withListing(connection, 'pipelines', async ({ count, definitions }) => {
        let done = 0
        for await (const definition of definitions()) {
          done += 1
          if (isOf(definition, options.application)) {
            report.add(await checkPipeline(definition, checking, requests))
          }
          progress.show(bar(done, count))
        }
      })
    await withRequests(policies.config, terminal, checkAll)
  })
  progress.end()
  return report
}

const BAR_WIDTH = 30

function bar(done: number, all: number): string {
  const filled = all === 0 ? BAR_WIDTH : Math.floor((done / all) * BAR_WIDTH)
  return `checking [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${done} of ${all}`
}

/**
 * Evaluates the static policies on a pipeline, like the orchestrator's save request. The
 * application takes the place of a file.
 */
export function checkPipeline(
  definition: Definition,
  checking: Checking,
  requests: PolicyRequests,
): Promise<CheckResult> {
  const { application } = definition
  const place = typeof application === 'string' ? application : '(without an application)'
  const input = Buffer.from(JSON.stringify({ new: definition }))
  return checkDefinition(
    place,
    { name: pipelineName(definition), input, form: 'pipeline' as const },
    checking,
    requests,
  )
}

/** Returns whether a pipeline belongs to an application, if one is given. */
export function isOf({ application }: Definition, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  return typeof application === 'string' && applicationKey(application) === applicationKey(wanted)
}

interface ApplicationResult {
  /** Allowed pipelines, some with warnings. */
  allowed: number
  pipelines: number
  /** Pipelines that are denied, unchecked or have warnings. */
  readonly findings: CheckResult[]
}

interface Summary {
  readonly applications: number
  readonly pipelines: number
  readonly denied: number
  readonly errors: number
  /** Reasons that do not deny. */
  readonly warnings: number
}

/** Results by application. Allowed pipelines without warnings are only counted. */
export class EstateReport {
  readonly #applications = new Map<string, ApplicationResult>()

  add(result: CheckResult): void {
    const known = this.#applications.get(result.file) ?? { allowed: 0, pipelines: 0, findings: [] }
    this.#applications.set(result.file, known)
    known.pipelines += 1
    if (!isUnchecked(result) && result.allowed) known.allowed += 1
    if (isUnchecked(result) || !result.allowed || result.warnings.length > 0) known.findings.push(result)
  }

  summary(): Summary {
    const all = [...this.#applications.values()]
    const findings = all.flatMap((application) => application.findings)
    const checked = findings.filter((finding): finding is Finding => !isUnchecked(finding))
    return {
      applications: all.length,
      pipelines: all.reduce((sum, { pipelines }) => sum + pipelines, 0),
      denied: checked.filter(({ allowed }) => !allowed).length,
      errors: findings.length - checked.length,
      warnings: checked.reduce((sum, { warnings }) => sum + warnings.length, 0),
    }
  }

  json(): unknown {
    const applications = this.#inOrder().map(([application, { allowed, findings }]) => ({
      application,
      allowed,
      findings: findings.map((finding) =>
        isUnchecked(finding)
          ? { pipeline: finding.name, error: { code: finding.error.code, message: finding.error.message } }
          : { pipeline: finding.name, denials: finding.denials, warnings: finding.warnings },
      ),
    }))
    return { applications, summary: this.summary() }
  }

  text(colours: Colours): string {
    const { applications, pipelines, denied, errors, warnings } = this.summary()
    const parts = [
      denied > 0 ? colours.bad(`${denied} denied`) : 'none denied',
      ...(errors > 0 ? [colours.bad(count(errors, 'error'))] : []),
      ...(warnings > 0 ? [colours.warning(count(warnings, 'warning'))] : []),
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
  { pipelines, findings }: ApplicationResult,
  colours: Colours,
): string {
  if (findings.length === 0) return ''
  const title = `${colours.strong(application)}  ${findings.length} of ${pipelines}\n`
  return `${title}${findings.map((finding) => findingText(finding, colours)).join('')}\n`
}

function findingText(finding: CheckResult, colours: Colours): string {
  const name = finding.name ?? '(without a name)'
  if (isUnchecked(finding)) return `  ${colours.bad('error')}   ${name}\n    ${finding.error.message}\n`
  const reasons = finding.denials.map(
    (denial) => `    ${colours.faint(`${denial.package}:`)} ${denial.text}\n`,
  )
  const warnings = finding.warnings.map(
    (warning) =>
      `    ${colours.warning('warning')} ${colours.faint(`${warning.package}:`)} ${warning.text}${excusedBy(warning)}\n`,
  )
  const verdict = finding.allowed ? colours.good('allowed') : `${colours.bad('denied')} `
  return `  ${verdict} ${name}\n${[...reasons, ...warnings].join('')}`
}
