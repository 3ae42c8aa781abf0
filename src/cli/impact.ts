import { existsSync } from 'node:fs'
import { Option } from 'commander'
import type { Command } from 'commander'

import { SERVING } from '../impact/impact-request.js'
import type { ImpactRequest, SentPolicies } from '../impact/impact-request.js'
import { countChanges, isSlower } from '../impact/impact-result.js'
import type { ImpactResult } from '../impact/impact-result.js'
import { readPipelineFiles } from './check/read-pipeline-files.js'
import { compareLocally, readShadow, requestImpact } from './impact/request-impact.js'
import { IMPACT_FORMATS, impactCsv, impactMarkdown, impactText } from './impact/impact-report.js'
import type { ImpactFormat } from './impact/impact-report.js'
import { readPolicies } from './impact/read-policies.js'
import { addRangeOptions } from './session/list-options.js'
import type { RangeOptions } from './session/list-options.js'
import { makeServiceClient } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT, wrongUse } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { addConfigOption, examples, outJson, repeatable } from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'

const STORED = ['decisions', 'pipelines'] as const
type Stored = (typeof STORED)[number]
const FAIL_ON = ['flips', 'errors', 'slower'] as const
type FailOn = (typeof FAIL_ON)[number]

interface ImpactOptions extends Omit<ServiceOptions, 'format'>, RangeOptions {
  readonly format: OutputOptions['format'] | ImpactFormat
  readonly policies?: readonly string[]
  readonly against: string
  readonly over?: readonly string[]
  readonly application?: string
  readonly limit?: number
  readonly shadow?: true
  readonly failOn?: readonly FailOn[]
  readonly config?: string
}

/** `tidegate impact`: compares policies with those that serve, over stored inputs. */
export function defineImpact(command: Command, session: Session): void {
  addRangeOptions(addConfigOption(addServiceOptions(command, ['text', ...IMPACT_FORMATS])))
    .description(
      'Shows what a change of policies would decide differently: evaluates the decisions that a running service has stored, its pipelines, or files again with both revisions. Nothing that serves is changed.',
    )
    .addOption(repeatable('--policies <path>', 'the candidate: directory of Rego, or OPA bundle; repeatable'))
    .option(
      '--against <revision>',
      'what to compare with: serving, an earlier revision whose policies the service stores, or a directory or bundle',
      SERVING,
    )
    .addOption(
      new Option(
        '--over <what>',
        'decisions, pipelines, or pipeline files and directories, joined by commas; repeatable (default: decisions)',
      ).argParser((text: string, previous: readonly string[] | undefined) => [
        ...(previous ?? []),
        ...text.split(',').filter((part) => part !== ''),
      ]),
    )
    .option('--shadow', 'show what policies.shadow of the service would have decided since it started')
    .option('--application <name>', 'only this application')
    .addOption(
      new Option('--limit <n>', 'maximum inputs, the newest first (default: 100000)').argParser(readLimit),
    )
    .addOption(
      new Option(
        '--fail-on <what>',
        `exit with 1 for ${FAIL_ON.join(', ')} (joined by commas), or if nothing could be compared`,
      ).argParser(readFailOn),
    )
    .addHelpText(
      'after',
      examples(
        'tidegate impact --policies policies --since 7d',
        'tidegate impact --policies policies --over decisions,pipelines --application shop',
        'tidegate impact --policies policies --against main-policies --over pipelines/',
        'tidegate impact --policies policies --format markdown --fail-on errors > impact.md',
      ),
    )
    .action(async (options: ImpactOptions) => {
      session.exitCode = await impact(options, session)
    })
}

async function impact(options: ImpactOptions, session: Session): Promise<ExitCode> {
  const { terminal } = session
  const { policies = [], over = [], against, failOn = [], format } = options
  if (options.shadow === undefined && policies.length === 0)
    throw wrongUse("required option '--policies <path>' not specified")
  const stored = STORED.filter((each) => over.includes(each))
  const files = over.filter((each) => !isStored(each))
  const inputs = await readInputs(files, session)
  const result = options.shadow
    ? await readShadow(await makeServiceClient(options, terminal))
    : stored.length === 0 && files.length > 0 && isPath(against)
      ? await compareLocally(
          {
            candidate: { name: policies.join(','), paths: policies },
            against: { name: against, paths: [against] },
          },
          inputs,
          options,
          terminal,
        )
      : await compareAtService(options, stored, inputs, session)
  if (format === 'json') outJson(terminal, result)
  else if (format === 'csv') terminal.out(impactCsv(result))
  else if (format === 'markdown') terminal.out(impactMarkdown(result))
  else terminal.out(impactText(result, terminal.columns))
  const failures = failOn.filter((what) => hasFailed(what, result))
  if (failures.length > 0) terminal.err(`failed on ${failures.join(', ')} (--fail-on)\n`)
  if (failOn.length > 0 && result.compared.total === 0) {
    terminal.err('failed, since nothing could be compared (--fail-on)\n')
    return EXIT.denied
  }
  return failures.length > 0 ? EXIT.denied : EXIT.fine
}

async function compareAtService(
  options: ImpactOptions,
  over: readonly Stored[],
  inputs: ImpactRequest['inputs'],
  { terminal }: Session,
): Promise<ImpactResult> {
  const { policies = [], against, since, until, application, limit } = options
  const client = await makeServiceClient(options, terminal)
  const sent = await readPolicies(policies, policies.join(',').slice(-MAX_NAME))
  const stored = { since, until, application, limit }
  const { archive, name } = sent
  if (archive !== undefined && inputs.length === 0 && !isPath(against)) {
    const query = { name, against, ...stored, over: over.length === 0 ? undefined : over.join(',') }
    return await requestImpact(client, { archive, query }, policies, terminal)
  }
  const body = {
    policies: inJson(sent),
    against: isPath(against) ? inJson(await readPolicies([against], against.slice(-MAX_NAME))) : against,
    ...{ over, inputs, ...stored },
  }
  return await requestImpact(client, { body }, policies, terminal)
}

/** Returns policies as a member of a JSON body, in which an archive takes a third more bytes. */
function inJson({ archive, ...rest }: SentPolicies): SentPolicies {
  return archive === undefined ? rest : { ...rest, bundle: Buffer.from(archive).toString('base64') }
}

/** Longest name of a set of policies. */
const MAX_NAME = 200

/** Whether `--against` names files: it has a slash, or it is a file or directory here. */
function isPath(against: string): boolean {
  return against !== SERVING && (/[/\\]/.test(against) || existsSync(against))
}

async function readInputs(files: readonly string[], { terminal }: Session): Promise<ImpactRequest['inputs']> {
  const reading = { form: undefined, others: new Set<string>() }
  const definitions = await readPipelineFiles(files, reading, terminal)
  return definitions.map((definition) => {
    if ('error' in definition) throw definition.error
    const { file, name, input } = definition
    return { name: name === undefined ? file : `${file}: ${name}`, input: Buffer.from(input).toString() }
  })
}

function hasFailed(what: FailOn, result: ImpactResult): boolean {
  if (what === 'slower') return isSlower(result)
  return countChanges(result)[what] > 0
}

function isStored(text: string): text is Stored {
  return STORED.some((each) => each === text)
}

function readLimit(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw wrongUse(`--limit must be a whole number from 1, not '${text}'`)
}

function readFailOn(text: string): readonly FailOn[] {
  return text.split(',').map((part) => {
    const known = FAIL_ON.find((each) => each === part)
    if (known === undefined) throw wrongUse(`--fail-on must be ${FAIL_ON.join(', ')}, not '${part}'`)
    return known
  })
}
