import { AppError } from '../../errors/app-error.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { RefusalReason } from '../instances/transition.js'

/** Makes the error for a refused review. A conflict includes the current state. */
export function refusedReview(instance: GateInstance, reason: RefusalReason, person: string): AppError {
  const state = asSentence(instance)
  switch (reason) {
    case 'not_an_approver':
      return new AppError('forbidden', `${person} is not an approver of the gate ${instance.gateName}`, {
        code: 'not_an_approver',
      })
    case 'own_trigger':
      return new AppError(
        'forbidden',
        `${person} triggered instance ${instance.id} and may not approve it: someone else must`,
        { code: 'own_trigger' },
      )
    case 'committer':
      return new AppError(
        'forbidden',
        `${person} committed to the change of instance ${instance.id} and may not approve it: someone else must`,
        { code: 'committer' },
      )
    case 'unknown_committers':
      return new AppError(
        'forbidden',
        `The gate ${instance.gateName} refuses approvals by committers, and the committers are unknown. Name the commit in its trigger with a connector, or change the gate.`,
        { code: 'unknown_committers' },
      )
    case 'nameless':
      return new AppError(
        'forbidden',
        `approving instance ${instance.id} needs a name, since its gate counts different people: sign in with a token of auth.tokens, or, where none are configured, give a name (on the page, with --as, or in x-spinnaker-user)`,
        { code: 'name_required' },
      )
    case 'no_comment':
      return new AppError(
        'invalid',
        `The gate ${instance.gateName} requires a comment. Say why you decide this way.`,
        { code: 'comment_required' },
      )
    case 'already_decided':
      return conflict(instance, `${person} has already decided on instance ${instance.id}: ${state}`)
    case 'not_activated':
      return conflict(instance, `instance ${instance.id} cannot be decided yet: ${state}`)
    case 'closed':
      return conflict(instance, `instance ${instance.id} is closed: ${state}`)
  }
}

function conflict({ state }: GateInstance, message: string): AppError {
  return new AppError('conflict', message, { details: [{ code: 'present_state', message: state }] })
}

/**
 * Describes the state of an instance: `it was approved by ana at 2026-01-31T12:00:00.000Z (looks
 * good)`.
 */
function asSentence({ state, comment, decidedBy, decidedMs }: GateInstance): string {
  if (state === 'not_activated') return 'it has not been triggered'
  if (state === 'activated') return 'it waits for decisions'
  const who = decidedBy === undefined ? '' : ` by ${decidedBy}`
  const when = decidedMs === undefined ? '' : ` at ${new Date(decidedMs).toISOString()}`
  return `it was ${state}${who}${when}${comment === '' ? '' : ` (${comment})`}`
}
