import type { Command } from 'commander'
import { z } from 'zod'

import { EXIT } from '../session/session.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { findGate } from './find-gate.js'

interface TriggerOptions extends ServiceOptions {
  readonly execution: string
  readonly approvalCallback: string
  readonly rejectionCallback: string
  readonly parameters: string
  readonly connector: string
  readonly images: string
  readonly as?: string
}

const Answer = z.looseObject({ id: z.number(), approvalStatus: z.looseObject({ status: z.string() }) })

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
      const answer = await client.ask(Answer, request)
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(`instance ${answer.id}: ${answer.approvalStatus.status}\n`)
      session.exitCode = EXIT.fine
    })
}
