import type { Command } from 'commander'

import { AppError } from '../../errors/app-error.js'
import { isRecord } from '../../lib/validation/record.js'
import type { Definition } from '../../orchestrator/definition.js'
import { storePipelines } from '../../orchestrator/store-pipelines.js'
import type { StoreReport } from '../../orchestrator/store-report.js'
import { updatePipelines } from '../../orchestrator/update-pipelines.js'
import { staticPackages } from '../check/check-definition.js'
import { isUnchecked } from '../check/check-report.js'
import { findDefinitions } from '../check/find-definitions.js'
import { EXIT } from '../session/session.js'
import type { ExitCode, Session } from '../session/session.js'
import { withRequests } from '../input/evaluate-once.js'
import { openPolicies } from '../input/open-policies.js'
import { makeColours } from '../output/colours.js'
import { Progress } from '../output/progress.js'
import { count } from '../output/text-table.js'
import { readDocument } from '../input/read-document.js'
import { strictnessOf } from '../../rego/index.js'
import { addOutputOptions, addPolicyOptions, examples, outJson } from '../session/shared-options.js'
import type { OutputOptions, PolicyOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { checkPipeline } from './check-one.js'
import { withStorage } from './connect.js'
import type { StorageOptions } from './connect.js'
import { EstateReport } from './estate-report.js'

interface PushOptions extends PolicyOptions, StorageOptions, OutputOptions {
  readonly dryRun?: true
  readonly update?: true
}

interface Pushed {
  readonly report: EstateReport
  /** Undefined when nothing was to be sent. */
  readonly stored: StoreReport | undefined
}

/** `tidegate pipelines push`: stores definitions, but none that the static policies deny. */
export function definePush(command: Command, session: Session): void {
  addOutputOptions(addPolicyOptions(command))
    .description(
      'Stores pipeline definitions after asking the static policies. What is denied is not sent. Exits with 1 when one is denied, with 2 when one could not be checked or stored.',
    )
    .option('--storage-url <url>', 'the storage service (else orchestrator.storageUrl)')
    .option('--update', 'only replace pipelines that exist, found by their id: never make a new one')
    .option('--dry-run', 'ask the policies only')
    .addHelpText(
      'after',
      examples(
        'tidegate pipelines push pipelines.json',
        'tidegate pipelines push --update shop.json',
        'tidegate pipelines push --dry-run dir/',
      ),
    )
    .action(async (paths: readonly string[], options: PushOptions) => {
      const pushed = await push(paths, options, session.terminal)
      if (options.format === 'json') {
        outJson(session.terminal, { policies: pushed.report.json(), stored: pushed.stored ?? null })
      } else session.terminal.out(pushedText(pushed, session.terminal))
      session.exitCode = exitCodeOf(pushed)
    })
}

async function push(paths: readonly string[], options: PushOptions, terminal: Terminal): Promise<Pushed> {
  const definitions = await readAll(paths, terminal)
  const policies = await openPolicies(options, terminal)
  const packages = staticPackages(policies)
  const report = new EstateReport()
  const allowed: Definition[] = []
  const { config, snapshot } = policies
  const strictness = strictnessOf(config.policies.strictBuiltinErrors, true)
  await withRequests(config, terminal, async (requests) => {
    for (const definition of definitions) {
      const result = await checkPipeline(definition, { snapshot, requests, strictness }, packages)
      report.add(result)
      if (!isUnchecked(result) && result.allowed) allowed.push(definition)
    }
  })
  if (options.dryRun || allowed.length === 0) return { report, stored: undefined }
  const progress = new Progress(terminal)
  const write = options.update === true ? updatePipelines : storePipelines
  const stored = await withStorage(options, terminal, (connection) =>
    write(connection, allowed, (done) => progress.show(`storing … ${done} of ${allowed.length}`)),
  )
  progress.end()
  return { report, stored }
}

async function readAll(paths: readonly string[], terminal: Terminal): Promise<Definition[]> {
  const definitions: Definition[] = []
  for (const path of paths) {
    for (const file of await findDefinitions(path)) {
      const document: unknown = JSON.parse(Buffer.from(await readDocument(file, terminal)).toString())
      for (const one of Array.isArray(document) ? (document as unknown[]) : [document]) {
        if (!isRecord(one))
          throw new AppError('invalid', `${file}: a pipeline definition must be a JSON object`)
        definitions.push(one)
      }
    }
  }
  return definitions
}

function pushedText({ report, stored }: Pushed, terminal: Terminal): string {
  const colours = makeColours(terminal.hasColours)
  const failures = (stored?.failures ?? []).map(
    ({ application, pipeline, reason }) =>
      `${colours.bad('not stored')}  ${application} "${pipeline}"\n  ${reason}\n`,
  )
  const sum = stored === undefined ? 'nothing was sent' : `${count(stored.stored, 'pipeline')} stored`
  return `${report.text(colours)}${failures.join('')}${sum}\n`
}

function exitCodeOf({ report, stored }: Pushed): ExitCode {
  const { errors, denied } = report.summary()
  if (errors > 0 || (stored?.failures.length ?? 0) > 0) return EXIT.error
  return denied > 0 ? EXIT.denied : EXIT.fine
}
