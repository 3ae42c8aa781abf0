import type { Command } from 'commander'

import { defineEstateCheck, isOf, checkPipeline, EstateReport } from './pipelines/check.js'
import { EXIT } from './session/session.js'
import type { Session, ExitCode } from './session/session.js'
import {
  examples,
  addConfigOption,
  addOutputOptions,
  addPolicyOptions,
  outJson,
} from './session/shared-options.js'
import type { OutputOptions, PolicyOptions } from './session/shared-options.js'
import type { Definition } from '../orchestrator/definition.js'
import { withListing } from '../orchestrator/list-definitions.js'
import { Progress } from './output/progress.js'
import { count } from './output/text-table.js'
import { withStorage } from './session/connect-orchestrator.js'
import type { StorageOptions } from './session/connect-orchestrator.js'
import { AppError } from '../errors/app-error.js'
import { isRecord } from '../lib/validation/record.js'
import { storePipelines, updatePipelines } from '../orchestrator/store-pipelines.js'
import type { StoreReport } from '../orchestrator/store-report.js'
import { openChecking } from './check/check-definition.js'
import { isUnchecked } from './check/check-report.js'
import { findDefinitions } from './check/find-definitions.js'
import { withRequests } from './input/evaluate-once.js'
import { reportWarnings } from './input/find-warnings.js'
import { openPolicies } from './input/open-policies.js'
import { addExceptionsOption, readExceptions } from './input/read-exceptions.js'
import type { ExceptionOptions } from './input/read-exceptions.js'
import { makeColours } from './output/colours.js'
import { readDocument } from './input/read-document.js'
import type { Terminal } from './session/terminal.js'

/** `tidegate pipelines`: commands for the orchestrator's pipelines. */
export function definePipelines(command: Command, session: Session): void {
  command
    .description("Reads, checks and stores the orchestrator's pipelines (orchestrator.storageUrl).")
    .addHelpText(
      'after',
      examples(
        'tidegate pipelines pull --application shop > shop.json',
        'tidegate pipelines push shop.json',
        'tidegate pipelines check',
      ),
    )
  // Subcommands inherit the settings of this command.
  const add = (usage: string): Command => command.command(usage)
  definePull(add('pull'), session)
  definePush(
    add('push').argument(
      '<path...>',
      'definitions as JSON: files, directories (all *.json below), or - for standard input',
    ),
    session,
  )
  defineEstateCheck(add('check'), session)
}

interface PullOptions extends StorageOptions, OutputOptions {
  readonly application?: string
}

/** `tidegate pipelines pull`: writes all definitions as a JSON array. */
function definePull(command: Command, session: Session): void {
  const { terminal } = session
  addOutputOptions(addConfigOption(command))
    .description('Writes the definitions of all pipelines to standard output, as a JSON array.')
    .option('--storage-url <url>', 'URL of the storage service (default: orchestrator.storageUrl)')
    .option('--application <name>', 'only this application')
    .addHelpText('after', examples('tidegate pipelines pull > pipelines.json'))
    .action(async (options: PullOptions) => {
      const progress = new Progress(terminal)
      await withStorage(options, terminal, (connection) =>
        withListing(connection, 'pipelines', async ({ definitions }) => {
          let written = 0
          for await (const definition of definitions()) {
            if (!isOf(definition, options.application)) continue
            const line = lineOf(definition, written)
            // Waits for a slow reader, and stops if the pipe is closed.
            if (!(await terminal.outBytes(Buffer.from(line)))) return
            written += 1
            progress.show(`pulling … ${count(written, 'pipeline')}`)
          }
          terminal.out(written === 0 ? '[]\n' : '\n]\n')
        }),
      )
      progress.end()
      session.exitCode = EXIT.fine
    })
}

function lineOf(definition: Definition, index: number): string {
  return `${index === 0 ? '[' : ','}\n${JSON.stringify(definition)}`
}

interface PushOptions extends PolicyOptions, StorageOptions, OutputOptions, ExceptionOptions {
  readonly dryRun?: true
  readonly update?: true
}

interface Pushed {
  readonly report: EstateReport
  /** Undefined if nothing was sent. */
  readonly stored: StoreReport | undefined
}

/** `tidegate pipelines push`: stores definitions that the static policies allow. */
function definePush(command: Command, session: Session): void {
  addOutputOptions(addExceptionsOption(addPolicyOptions(command)))
    .description(
      'Stores pipeline definitions that the static policies allow. Exits with 1 if one is denied, with 2 if one could not be checked or stored.',
    )
    .option('--storage-url <url>', 'URL of the storage service (default: orchestrator.storageUrl)')
    .option('--update', 'only replace existing pipelines, by id; never create one')
    .option('--dry-run', 'only evaluate the policies')
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
  const checking = openChecking(policies, { exceptions: await readExceptions(options, terminal) })
  reportWarnings(checking.problems, options.format, terminal)
  const report = new EstateReport()
  const allowed: Definition[] = []
  await withRequests(policies.config, terminal, async (requests) => {
    for (const definition of definitions) {
      const result = await checkPipeline(definition, checking, requests)
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
    for (const file of await findDefinitions(path, { extensions: ['.json'] })) {
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
