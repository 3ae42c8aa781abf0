import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'

import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { textTable } from '../output/text-table.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import { examples, outJson } from '../session/shared-options.js'
import { localTime } from '../output/local-time.js'
import { addPageOptions, addRangeOptions, moreText } from '../session/list-options.js'
import type { PageOptions, RangeOptions } from '../session/list-options.js'
import { scopeFlags, suggestValues } from '../session/suggest-values.js'
import { InstanceAnswer, DetailsAnswer, instancePath, findGate } from './answers.js'
import { oneLine } from '../output/display-width.js'

interface InstancesOptions extends ServiceOptions, PageOptions, RangeOptions {
  readonly status?: string
  readonly gate?: string
  readonly application?: string
  readonly execution?: string
  readonly search?: string
  readonly order?: string
}

const STATUSES = ['activated', 'not_activated', 'approved', 'rejected', 'canceled', 'expired']
const Answer = z.object({
  instances: z.array(InstanceAnswer),
  total: z.number(),
  nextCursor: z.string().optional(),
})

/** `tidegate gates instances`: lists instances, newest first or by deadline. */
export function defineInstances(command: Command, session: Session): void {
  addPageOptions(addRangeOptions(command))
    .description('Lists gate instances, newest first, or by expiry with --order deadline.')
    .addOption(new Option('--status <status>', 'only instances in this state').choices(STATUSES))
    .option('--gate <gate>', 'only instances of this gate, by number or name')
    .option('--application <name>', 'only this application')
    .option('--execution <id>', 'only this execution')
    .option(
      '--search <text>',
      'only instances whose gate, application, execution or triggering user contains this text',
    )
    .addOption(
      new Option(
        '--order <order>',
        'deadline lists the earliest expiry first; requires --status activated',
      ).choices(['newest', 'deadline']),
    )
    .addHelpText('after', examples('tidegate gates instances --status activated --order deadline'))
    .action(async (options: InstancesOptions) => {
      const { status, application, execution, search, order, since, until, limit, cursor } = options
      const client = await makeServiceClient(options, session.terminal)
      const gate = options.gate === undefined ? undefined : await findGate(client, options.gate)
      const filter = { status, gate, application, executionId: execution, search, since, until }
      const query = { ...filter, order, limit, cursor }
      const answer = await client.request(Answer, { path: '/approvalGateInstances', query })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(listText(answer))
      const list = { path: '/approvalGateInstances', entries: 'instances', found: answer.instances.length }
      await suggestValues({ ...list, filters: scopeFlags(options) }, options, client, session.terminal)
      session.exitCode = EXIT.fine
    })
}

function listText({ instances, total, nextCursor }: z.output<typeof Answer>): string {
  if (instances.length === 0) return 'no instances\n'
  const rows = instances.map(({ id, gateName, application = '', executionId, status, ...times }) => {
    const { createdAt, expiresAt, decidedAt, comment, policyProblem = '' } = times
    return [
      ...[String(id), gateName, application, executionId, status, localTime(createdAt)],
      ...[
        decidedAt === undefined ? localTime(expiresAt) : '',
        (comment || policyProblem).split('\n', 1).join(''),
      ],
    ]
  })
  const heads = ['id', 'gate', 'application', 'execution', 'status', 'since', 'expires', 'comment']
  const counted = instances.length < total ? `${instances.length} of ${total}\n` : ''
  return `${textTable([heads, ...rows], [0])}${counted}${moreText(nextCursor)}`
}

type Evidence = DetailsAnswer['evidence'][number]

/** `tidegate gates show`: shows an instance with its evidence. */
export function defineShow(command: Command, session: Session): void {
  command
    .description('Shows an instance with its evidence, reviews and callbacks.')
    .action(async (id: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const answer = await client.request(DetailsAnswer, { path: instancePath(id) })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(detailsText(answer))
      session.exitCode = EXIT.fine
    })
}

function detailsText(details: DetailsAnswer): string {
  const { id, gateName, approvalGateId, status, comment, reviews, evidence, callbacks } = details
  const lines = [
    `${oneLine(`instance ${id} of ${gateName} (gate ${approvalGateId}): ${status}${comment === '' ? '' : `, "${comment}"`}`)}\n`,
    textTable(facts(details)),
    section('evidence', evidence.flatMap(evidenceLines)),
    section(
      'reviews',
      reviews.map(({ person, action, comment: words, at }) =>
        `${localTime(at)}  ${person}: ${action} ${words}`.trimEnd(),
      ),
    ),
    section(
      'callbacks',
      callbacks.map(({ id: message, url, state, attempts, lastError = '' }) =>
        `${message}  ${state} after ${attempts} of ${url} ${lastError}`.trimEnd(),
      ),
    ),
  ]
  return lines.join('')
}

function facts(details: DetailsAnswer): string[][] {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['  application', details.application],
    ['  execution', details.executionId],
    ['  triggered by', details.triggeredBy],
    ['  approvals', `${details.approvals} of ${details.approvalsNeeded}`],
    ['  since', localTime(details.createdAt)],
    ['  expires', details.decidedAt === undefined ? localTime(details.expiresAt) : undefined],
    ['  decided', details.decidedAt && localTime(details.decidedAt)],
    ['  decided by', details.decidedBy],
    ['  needs a person', details.policyProblem],
    ['  evidence', details.isEvidencePending ? 'still being fetched' : undefined],
  ]
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

function evidenceLines({ connectorType, account, state, output, error }: Evidence): string[] {
  const head = `${connectorType}${account === null ? '' : ` (${account})`}: ${state}${error === undefined ? '' : `, ${error}`}`
  return [head, ...output.map((found) => `  ${outputText(found)}`)]
}

function outputText(found: Readonly<Record<string, unknown>>): string {
  return Object.entries(found)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('  ')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${oneLine(line)}\n`).join('')}`
}
