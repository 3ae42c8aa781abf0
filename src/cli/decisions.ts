import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'

import { defineWhy } from './decisions/why.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, outJson } from './session/shared-options.js'
import { parseDataPath, printPackageName, withoutDataRoute } from '../rego/index.js'
import { addPageOptions, addRangeOptions, moreText } from './session/list-options.js'
import type { PageOptions, RangeOptions } from './session/list-options.js'
import { scopeFlags, suggestValues } from './session/suggest-values.js'
import type { FilterValue } from './session/suggest-values.js'
import { localTime } from './output/local-time.js'
import { textTable } from './output/text-table.js'
import { makeServiceClient } from './session/service-client.js'
import type { ServiceClient } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { addWatchOption } from './session/watch.js'

/** `tidegate decisions`: the decision log of a service. */
export function defineDecisions(command: Command, session: Session): void {
  command
    .description('Reads the decision log of a running service: what was denied, and why.')
    .addHelpText(
      'after',
      examples(
        'tidegate decisions list --outcome deny --since 2026-11-21',
        'tidegate decisions show 01a1fc8e-…',
        'tidegate decisions why 01a1fc8e-…',
      ),
    )
  defineDecisionList(command.command('list'), session)
  defineDecision(
    command.command('show').argument('<id>', 'decisionId from a response, a log line or the list'),
    session,
  )
  defineWhy(
    command.command('why').argument('<id>', 'decisionId from a response, a log line or the list'),
    session,
  )
}

/** A decision in responses. Lists omit some members. */
const DecisionAnswer = z.looseObject({
  decisionId: z.string(),
  time: z.string(),
  kind: z.string(),
  path: z.string(),
  outcome: z.string(),
  application: z.string().optional(),
  caller: z.string().optional(),
  replica: z.string().optional(),
  durationMs: z.number().optional(),
  error: z.string().optional(),
  result: z.unknown().optional(),
  input: z.unknown().optional(),
  inputPrefix: z.unknown().optional(),
  packages: z
    .array(z.looseObject({ warnings: z.array(z.looseObject({ message: z.string() })).optional() }))
    .optional(),
})
export type DecisionAnswer = z.output<typeof DecisionAnswer>

interface ListOptions extends ServiceOptions, PageOptions, RangeOptions {
  readonly outcome?: string
  readonly path?: string
  readonly package?: string
  readonly rule?: string
  readonly application?: string
  readonly execution?: string
  readonly own?: boolean
}

const Answer = z.object({ decisions: z.array(DecisionAnswer), nextCursor: z.string().optional() })
const OUTCOMES = ['allow', 'deny', 'defined', 'undefined', 'error']

/** `tidegate decisions list`: lists decisions, newest first, without inputs. */
function defineDecisionList(command: Command, session: Session): void {
  addPageOptions(addRangeOptions(addWatchOption(addServiceOptions(command))))
    .description('Lists decisions, newest first. Use decisions show for their inputs.')
    .addOption(new Option('--outcome <outcome>', 'only decisions with this outcome').choices(OUTCOMES))
    .option('--path <path>', 'only this path; with a trailing /, everything below it')
    .option('--package <name>', 'only denials and warnings of this package, such as static.wait_time')
    .option('--rule <rule>', 'only denials of this rule: its name, or file and line as in decisions show')
    .option('--application <name>', 'only this application')
    .option('--execution <id>', 'only this execution')
    .option('--own', 'if several services share a database: only decisions of the called service')
    .addHelpText(
      'after',
      examples(
        'tidegate decisions list --outcome deny',
        'tidegate decisions list --path runtime/',
        'tidegate decisions list --package static.wait_time',
      ),
    )
    .action(async (options: ListOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const {
        outcome,
        path,
        package: name,
        rule,
        application,
        execution,
        since,
        until,
        limit,
        cursor,
        own,
      } = options
      const filter = {
        outcome,
        path,
        package: name,
        rule,
        application,
        executionId: execution,
        since,
        until,
        own,
      }
      const answer = await client.request(Answer, { path: '/decisions', query: { ...filter, limit, cursor } })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(decisionTable(answer, session.terminal.columns))
      const list = { path: '/decisions', entries: 'decisions', found: answer.decisions.length }
      const deniedPackage = list.found > 0 ? undefined : await packageAt(options, client)
      if (deniedPackage !== undefined) session.terminal.err(packageHint(deniedPackage))
      else await suggestValues({ ...list, filters: flagsOf(options) }, options, client, session.terminal)
      session.exitCode = EXIT.fine
    })
}

function flagsOf(options: ListOptions): readonly FilterValue[] {
  const path = options.path && withoutDataRoute(options.path)
  return [
    { flag: '--path', value: path, member: 'path' },
    { flag: '--package', value: options.package, member: 'packages' },
    ...scopeFlags(options),
  ]
}

/**
 * Returns the package at the filtered path, if it denied. A request for all packages has a path of
 * its own, so the path filter does not find it.
 */
async function packageAt(
  { path = '', cursor, format, own }: ListOptions,
  client: ServiceClient,
): Promise<string | undefined> {
  const segments = parseDataPath(withoutDataRoute(path))
  if (segments.length === 0 || cursor !== undefined || format === 'json') return undefined
  const name = printPackageName(segments)
  const { decisions } = await client.request(Answer, {
    path: '/decisions',
    query: { package: name, limit: '1', own },
  })
  return decisions.length > 0 ? name : undefined
}

function packageHint(name: string): string {
  return `No decision was requested at this path, but package ${name} has denied. List these decisions with --package '${name}'.\n`
}

function decisionTable({ decisions, nextCursor }: z.output<typeof Answer>, columns = Infinity): string {
  const isShared = decisions.some(({ replica }) => replica !== undefined)
  const rows = decisions.map((decision) => {
    const { decisionId, time, outcome, path, application = '', replica = '' } = decision
    const cells = [decisionId, localTime(time), outcome, path, application]
    return [...cells, ...(isShared ? [replica] : []), reasonOf(decision)]
  })
  const heads = ['decision', 'time', 'outcome', 'path', 'application', ...(isShared ? ['by'] : []), 'why']
  const table = rows.length === 0 ? 'no decisions\n' : textTable([heads, ...rows], [], columns)
  return table + moreText(nextCursor)
}

/** Returns the error, or the reasons of a denial and the warnings. */
function reasonOf({ outcome, error, result, packages = [] }: DecisionAnswer): string {
  if (error !== undefined) return error
  const isDenied = outcome === 'deny' && Array.isArray(result)
  const reasons = isDenied ? result.filter((reason) => typeof reason === 'string') : []
  const warnings = packages
    .flatMap((named) => named.warnings ?? [])
    .map(({ message }) => `warning: ${message}`)
  return [...reasons, ...warnings].join('; ')
}

/** `tidegate decisions show ID`: shows a decision with its input. */
function defineDecision(command: Command, session: Session): void {
  addWatchOption(addServiceOptions(command))
    .description('Shows one decision with its input and result, as JSON.')
    .option('--own', 'if several services share a database: only decisions of the called service')
    .addHelpText('after', examples('tidegate decisions show 01a1fc8e-f0c0-751d-96e3-cdae4828646a'))
    .action(async (id: string, options: ServiceOptions & { readonly own?: boolean }) => {
      const client = await makeServiceClient(options, session.terminal)
      const path = `/decisions/${encodeURIComponent(id)}`
      outJson(session.terminal, await client.request(DecisionAnswer, { path, query: { own: options.own } }))
      session.exitCode = EXIT.fine
    })
}
