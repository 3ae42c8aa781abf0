import type { Command } from 'commander'

import { EXIT } from '../session/session.js'
import { makeServiceClient } from '../session/service-client.js'
import type { ServiceOptions } from '../session/service-options.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'
import { ReviewAnswer, instancePath } from './answers.js'

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
      const answer = await client.ask(ReviewAnswer, {
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
