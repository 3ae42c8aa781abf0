import type { Command } from 'commander'
import { z } from 'zod'
import { AppError } from '../errors/app-error.js'
import { printable } from '../lib/text/shown-text.js'
import {
  GatesAnswer,
  GateAnswer,
  ReviewAnswer,
  instancePath,
  DetailsAnswer,
  findGate,
} from './gates/answers.js'
import { defineInstances, defineShow } from './gates/instances.js'
import { readDocument } from './input/read-document.js'
import { localTime } from './output/local-time.js'
import { textTable } from './output/text-table.js'
import { endOption } from './session/list-options.js'
import { makeServiceClient, printAnswer } from './session/service-client.js'
import type { ServiceRequest } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT, wrongUse } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, outJson } from './session/shared-options.js'
import { addWatchOption } from './session/watch.js'

/** `tidegate gates`: commands for approval gates of a service. */
export function defineGates(command: Command, session: Session): void {
  command
    .description('Lists and reviews the approval gates of a running service.')
    .addHelpText(
      'after',
      examples(
        'tidegate gates list',
        'tidegate gates show 17',
        'tidegate gates approve 17 --comment "looks good"',
      ),
    )
  // Subcommands inherit the settings of this command.
  const add = (usage: string): Command => addServiceOptions(command.command(usage))
  const withInstance = (of: Command): Command =>
    of.argument('<instance>', 'number of the instance, as listed by gates instances')
  const addShowing = (usage: string): Command => addWatchOption(add(usage))
  defineList(addShowing('list'), session)
  defineInstances(addShowing('instances'), session)
  defineShow(withInstance(addShowing('show')), session)
  defineTrigger(add('trigger').argument('<gate>', 'number or name of the gate'), session)
  for (const action of ['approve', 'reject', 'cancel'] as const)
    defineReview(withInstance(add(action)), session, action)
  defineResend(withInstance(add('resend')), session)
  defineDelegate(add('delegate'), session)
  defineDelegations(addShowing('delegations'), session)
  defineRevoke(add('revoke'), session)
  defineCreate(add('create').argument('<file>', 'gate as JSON or YAML'), session)
}

/** `tidegate gates list`: lists declared gates. */
function defineList(command: Command, session: Session): void {
  command
    .description('Lists declared approval gates. Use gates instances for pending reviews.')
    .action(async (options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const answer = await client.request(GatesAnswer, { path: '/approvalGates' })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(gateTable(answer.gates))
      session.exitCode = EXIT.fine
    })
}

function gateTable(gates: readonly GateAnswer[]): string {
  if (gates.length === 0) return 'No gates. Declare some in gates.definitions, or with gates create.\n'
  const rows = gates.map(({ id, name, application = 'any', approvals, policy = '', origin, isEnabled }) => [
    String(id),
    name,
    application,
    String(approvals),
    policy,
    isEnabled ? origin : 'removed',
  ])
  return textTable([['id', 'name', 'application', 'approvals', 'policy', 'declared in'], ...rows], [0, 3])
}

/** `tidegate gates create`: declares a gate in addition to those in the configuration. */
function defineCreate(command: Command, session: Session): void {
  command
    .description(
      'Declares a gate from a JSON or YAML file with name and optionally application, pipeline, stage, connectors, approvers, approvals, triggererMayApprove, timeToLiveMinutes and policy. Requires the role admin.',
    )
    .addHelpText('after', examples('tidegate gates create release-gate.yaml'))
    .action(async (file: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const document = await readDocument(file, session.terminal)
      const body: unknown = JSON.parse(Buffer.from(document).toString())
      const gate = await client.request(GateAnswer, { method: 'POST', path: '/approvalGates', body })
      if (options.format === 'json') outJson(session.terminal, gate)
      else session.terminal.out(printable(`gate ${gate.id}: ${gate.name}\n`))
      session.exitCode = EXIT.fine
    })
}

interface ReviewOptions extends ServiceOptions {
  readonly comment: string
  readonly as?: string
}

type Action = 'approve' | 'reject' | 'cancel'

const DESCRIPTIONS: Readonly<Record<Action, string>> = {
  approve: 'Approves an instance. It is approved once enough different people have approved it.',
  reject: 'Rejects an instance, even after approvals.',
  cancel: 'Cancels an instance that no longer needs a review.',
}

/** `tidegate gates approve`, `reject` and `cancel`: review an instance. */
function defineReview(command: Command, session: Session, action: Action): void {
  command
    .description(DESCRIPTIONS[action])
    .option('--comment <text>', 'reason, for the orchestrator and the audit trail', '')
    .option('--as <user>', 'reviewer, if the service requires no tokens')
    .addHelpText('after', examples(`tidegate gates ${action} 17 --comment "OPS-12 is done"`))
    .action(async (id: string, options: ReviewOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const answer = await client.request(ReviewAnswer, {
        method: 'PUT',
        path: `${instancePath(id)}/review`,
        body: { action, comment: options.comment },
        claimedUser: options.as,
      })
      const { status, approvals, approvalsNeeded } = answer
      const counted = status === 'activated' ? ` (${approvals} of ${approvalsNeeded} approvals)` : ''
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(`instance ${answer.id}: ${status}${counted}\n`)
      session.exitCode = EXIT.fine
    })
}

const Resent = z.looseObject({ id: z.number(), url: z.string(), state: z.string() })

/** `tidegate gates resend`: sends the callbacks of an instance again. */
function defineResend(command: Command, session: Session): void {
  command
    .description('Sends the callbacks of a closed instance again, unless they are still pending.')
    .action(async (id: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const { callbacks } = await client.request(DetailsAnswer, { path: instancePath(id) })
      const settled = callbacks.filter(({ state }) => state !== 'pending')
      if (settled.length === 0) throw nothingToSend(id, callbacks.length)
      const resent = []
      for (const { id: message } of settled) {
        resent.push(await client.request(Resent, { method: 'POST', path: `/outbox/${message}/resend` }))
      }
      if (options.format === 'json') outJson(session.terminal, { callbacks: resent })
      else for (const { url, state } of resent) session.terminal.out(printable(`${url}: ${state}\n`))
      session.exitCode = EXIT.fine
    })
}

function nothingToSend(id: string, pending: number): AppError {
  const reason = pending === 0 ? 'it has no callbacks' : 'its callback is still pending'
  return new AppError('conflict', `nothing to send again for instance ${id}: ${reason}`)
}

interface TriggerOptions extends ServiceOptions {
  readonly execution: string
  readonly approvalCallback: string
  readonly rejectionCallback: string
  readonly parameters: string
  readonly connector: string
  readonly images: string
  readonly as?: string
}

const TriggerAnswer = z.looseObject({ id: z.number(), approvalStatus: z.looseObject({ status: z.string() }) })

/** `tidegate gates trigger`: starts an instance. */
function defineTrigger(command: Command, session: Session): void {
  command
    .description('Starts an instance of a gate. Repeating the command returns the same instance.')
    .requiredOption('--execution <id>', 'execution that waits for the gate')
    .requiredOption('--approval-callback <url>', 'URL to call after an approval')
    .requiredOption('--rejection-callback <url>', 'URL to call after a rejection, cancellation or expiry')
    .option('--connector <type>', 'connector of the parameters, such as JIRA', '')
    .option('--parameters <text>', 'parameters of the connector: an id such as OPS-12, or JSON', '')
    .option('--images <list>', 'images to be deployed, separated by commas', '')
    .option(
      '--as <user>',
      "triggering user, if the service requires no tokens; a gate may refuse this user's approval",
    )
    .addHelpText(
      'after',
      examples(
        'tidegate gates trigger 7 --execution 01J0ABC --approval-callback https://ci.example.org/yes --rejection-callback https://ci.example.org/no --connector JIRA --parameters OPS-12',
      ),
    )
    .action(async (gate: string, options: TriggerOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const body = {
        executionId: options.execution,
        approvalCallbackURL: options.approvalCallback,
        rejectionCallbackURL: options.rejectionCallback,
        toolConnectorParameters: options.parameters,
        connectorType: options.connector,
        imageIds: options.images,
      }
      const request = {
        method: 'POST',
        path: `/approvalGates/${await findGate(client, gate)}/trigger`,
        body,
        claimedUser: options.as,
      } as const
      const answer = await client.request(TriggerAnswer, request)
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(`instance ${answer.id}: ${answer.approvalStatus.status}\n`)
      session.exitCode = EXIT.fine
    })
}

const Delegation = z.looseObject({
  id: z.number(),
  from: z.string(),
  to: z.string(),
  reason: z.string(),
  until: z.string(),
})
type Delegation = z.output<typeof Delegation>
const Delegations = z.object({ delegations: z.array(Delegation) })

interface DelegateOptions extends ServiceOptions {
  readonly to: string
  readonly until: string
  readonly reason?: string
}

/** `tidegate gates delegate`: gives the caller's rights to another person. */
function defineDelegate(command: Command, session: Session): void {
  command
    .description('Gives your rights as an approver to another person until an end.')
    .requiredOption('--to <name>', 'who gets them')
    .addOption(
      endOption('--until <end>', 'the end: a date, or a duration such as 12h or 14d').makeOptionMandatory(),
    )
    .option('--reason <text>', 'why, for the trail')
    .addHelpText('after', examples('tidegate gates delegate --to bo --until 14d --reason holiday'))
    .action(async (options: DelegateOptions) => {
      const { to, until, reason } = options
      const request = { method: 'POST', path: '/delegations', body: { to, until, reason } } as const
      await report(request, 'given', options, session)
    })
}

/** `tidegate gates delegations`: lists delegations. */
function defineDelegations(command: Command, session: Session): void {
  command
    .description('Lists the delegations that have not ended.')
    .addHelpText('after', examples('tidegate gates delegations'))
    .action(async (options: ServiceOptions) => {
      const request = { path: '/delegations' }
      await printAnswer(options, { schema: Delegations, request, textOf: delegationTable }, session)
      session.exitCode = EXIT.fine
    })
}

/** `tidegate gates revoke`: ends a delegation. */
function defineRevoke(command: Command, session: Session): void {
  command
    .description('Revokes a delegation that you gave or got.')
    .argument('<delegation>', 'number from the list')
    .addHelpText('after', examples('tidegate gates revoke 3'))
    .action(async (id: string, options: ServiceOptions) => {
      if (!/^\d+$/.test(id)) throw wrongUse(`a delegation must be a number, not "${id}"`)
      await report({ method: 'DELETE', path: `/delegations/${id}` }, 'revoked', options, session)
    })
}

async function report(
  request: ServiceRequest,
  what: 'given' | 'revoked',
  options: ServiceOptions,
  session: Session,
): Promise<void> {
  const textOf = ({ id, from, to, until }: Delegation): string =>
    `delegation ${id} from ${from} to ${to} until ${localTime(until)}: ${what}\n`
  await printAnswer(options, { schema: Delegation, request, textOf }, session)
  session.exitCode = EXIT.fine
}

function delegationTable({ delegations }: z.output<typeof Delegations>): string {
  if (delegations.length === 0) return 'No delegations.\n'
  const rows = delegations.map(({ id, from, to, until, reason }) => [
    String(id),
    from,
    to,
    localTime(until),
    reason,
  ])
  return textTable([['id', 'from', 'to', 'until', 'reason'], ...rows], [0])
}
