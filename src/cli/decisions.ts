import type { Command } from 'commander'

import { defineDecisionList } from './decisions/list.js'
import { defineDecision } from './decisions/show.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

/** `tidegate decisions`: the decision log of a running service. */
export function defineDecisions(command: Command, session: Session): void {
  command
    .description('Who was refused, and why: the decision log of a running service.')
    .addHelpText(
      'after',
      examples(
        'tidegate decisions list --outcome deny --since 2026-11-21',
        'tidegate decisions show 01a1fc8e-…',
      ),
    )
  defineDecisionList(command.command('list'), session)
  defineDecision(
    command.command('show').argument('<id>', 'the decisionId that an answer, a log line or the list gives'),
    session,
  )
}
