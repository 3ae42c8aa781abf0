import type { Command } from 'commander'
import { z } from 'zod'

import { defineInstances, defineShow } from './gates/instances.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples, outJson } from './session/shared-options.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { addWatchOption } from './session/watch.js'
import { textTable } from './output/text-table.js'
import { makeServiceClient } from './session/service-client.js'
import {
  GatesAnswer,
  GateAnswer,
  ReviewAnswer,
  instancePath,
  DetailsAnswer,
  findGate,
} from './gates/answers.js'
import { readDocument } from './input/read-document.js'
import { AppError } from '../errors/app-error.js'

/** `tidegate gates`: the commands about approval gates, each a request to a running service. */
export function defineGates(command: Command, session: Session): void {
  command
    .description('Sees and decides the approval gates of a running service.')
    .addHelpText(
      'after',
      examples(
        'tidegate gates list',
        'tidegate gates show 17',
        'tidegate gates approve 17 --comment "looks good"',
      ),
    )
  // What the program set for this command, its subcommands take over.
  const add = (usage: string): Command => addServiceOptions(command.command(usage))
  const withInstance = (of: Command): Command =>
    of.argument('<instance>', 'its number, as gates instances lists it')
  const addShowing = (usage: string): Command => addWatchOption(add(usage))
  defineList(addShowing('list'), session)
  defineInstances(addShowing('instances'), session)
  defineShow(withInstance(addShowing('show')), session)
  defineTrigger(add('trigger').argument('<gate>', 'its number or name'), session)
  for (const action of ['approve', 'reject', 'cancel'] as const)
    defineReview(withInstance(add(action)), session, action)
  defineResend(withInstance(add('resend')), session)
  defineCreate(add('create').argument('<file>', 'the gate as JSON or YAML'), session)
}

/** `tidegate gates list`: the gates that are declared. */
export function defineList(command: Command, session: Session): void {
  command
    .description('Lists the approval gates that are declared. What waits for a decision: gates instances.')
    .action(async (options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const answer = await client.request(GatesAnswer, { path: '/approvalGates' })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(gateTable(answer.gates))
      session.exitCode = EXIT.fine
    })
}

function gateTable(gates: readonly GateAnswer[]): string {
  if (gates.length === 0) return 'no gates: declare some in gates.definitions, or with gates create\n'
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

/** `tidegate gates create`: declares a gate beside those of the configuration. */
export function defineCreate(command: Command, session: Session): void {
  command
    .description(
      'Declares a gate from a JSON or YAML file with name and, where needed, application, pipeline, stage, connectors, approvers, approvals, triggererMayApprove, timeToLiveMinutes and policy. Needs the role admin.',
    )
    .addHelpText('after', examples('tidegate gates create release-gate.yaml'))
    .action(async (file: string, options: ServiceOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const document = await readDocument(file, session.terminal)
      const body: unknown = JSON.parse(Buffer.from(document).toString())
      const gate = await client.request(GateAnswer, { method: 'POST', path: '/approvalGates', body })
      if (options.format === 'json') outJson(session.terminal, gate)
      else session.terminal.out(`gate ${gate.id}: ${gate.name}\n`)
      session.exitCode = EXIT.fine
    })
}

interface ReviewOptions extends ServiceOptions {
  readonly comment: string
  readonly as?: string
}

type Action = 'approve' | 'reject' | 'cancel'

const DESCRIPTIONS: Readonly<Record<Action, string>> = {
  approve: 'Approves an instance; it is approved once enough different people have.',
  reject: 'Rejects an instance, whoever has approved it before.',
  cancel: 'Cancels an instance that nobody should decide any more.',
}

/** `tidegate gates approve`, `reject` and `cancel`: what a person decides. */
export function defineReview(command: Command, session: Session, action: Action): void {
  command
    .description(DESCRIPTIONS[action])
    .option('--comment <text>', 'why, for the orchestrator and the trail', '')
    .option('--as <user>', 'who decides, where the service asks for no tokens')
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

/** `tidegate gates resend`: tells the receivers of an instance's callbacks once more. */
export function defineResend(command: Command, session: Session): void {
  command
    .description('Sends the callbacks of a closed instance once more, unless they are still being tried.')
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
      else for (const { url, state } of resent) session.terminal.out(`${url}: ${state}\n`)
      session.exitCode = EXIT.fine
    })
}

function nothingToSend(id: string, pending: number): AppError {
  const reason = pending === 0 ? 'it has no callbacks' : 'its callback is still being tried'
  return new AppError('conflict', `there is nothing to send again for instance ${id}: ${reason}`)
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

/** `tidegate gates trigger`: starts an instance, as the contract's trigger does. */
export function defineTrigger(command: Command, session: Session): void {
  command
    .description(
      'Starts an instance of a gate, by its number or name. The same again gives the same instance.',
    )
    .requiredOption('--execution <id>', 'the execution that waits for the gate')
    .requiredOption('--approval-callback <url>', 'who is told of an approval')
    .requiredOption('--rejection-callback <url>', 'who is told of a rejection, a cancellation or an expiry')
    .option('--connector <type>', 'the connector that the parameters are for, such as JIRA', '')
    .option('--parameters <text>', 'what the connector is to fetch: an id such as OPS-12, or JSON', '')
    .option('--images <list>', 'the images that are to be deployed, joined by commas', '')
    .option(
      '--as <user>',
      'who triggers it, where the service asks for no tokens; a gate may refuse the approval of whoever did',
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
