import { AppError } from '../../../errors/app-error.js'
import { readExecutionFacts } from '../../../events/execution-facts.js'
import { NOBODY } from '../../../gates/instances/transition.js'
import type { RefusalReason } from '../../../gates/instances/transition.js'
import { reviewInstance } from '../../../gates/reviewing/review-instance.js'
import type { Reviewed } from '../../../gates/reviewing/review-instance.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import type { Review, GateInstance } from '../../../store/ports/gate-instance.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'

/** Maximum length of a review comment. */
export const MAX_COMMENT = 4000

/** A review, with the claimed name if no credentials are required. */
export type CallerReview = Pick<Review, 'action' | 'comment'> & { readonly claimedName?: string | undefined }

/**
 * Records the caller's review. Raises `not_found`, `forbidden` or `conflict` for a review without
 * effect.
 */
export async function reviewByCaller(
  exchange: Exchange,
  instanceId: number,
  { action, comment, claimedName }: CallerReview,
  deps: GateRoutesDeps,
): Promise<Reviewed> {
  requireApprovalSignIn(exchange, instanceId, deps)
  const claimed = claimedName ?? exchange.claimedUser
  const { name: person, groups } = personOf(exchange, claimed)
  const attempt = { action, comment, person, groups, timeMs: deps.now(), approvers: deps.approvers }
  const committersInEvents = await committersFor(instanceId, deps)
  const { origin } = callerOf(exchange)
  const reviewed = await deps.writer.run(reviewInstance, {
    instanceId,
    attempt,
    committersInEvents,
    claimedUser: claimed,
    origin,
  })
  const { instance, refusal } = reviewed
  if (!isOpen(instance.state)) deps.closed()
  if (refusal !== undefined) throw refusedReview(instance, refusal, person)
  return reviewed
}

/** Committers in the events of an instance's execution, for a gate that refuses their approvals. */
export async function committersFor(
  instanceId: number,
  { lookups: { gates }, reader }: Pick<GateRoutesDeps, 'lookups' | 'reader'>,
): Promise<readonly string[] | undefined> {
  const instance = await gates.findInstance(instanceId)
  const gate = instance && (await gates.findGate(instance.gateId))
  if (instance === undefined || gate?.committersMayApprove !== false) return undefined
  return (await reader.run(readExecutionFacts, instance.executionId))?.committers
}

/** Raises `forbidden` for an account that has not signed in as approvals require it. */
function requireApprovalSignIn(
  { caller: { account } }: Exchange,
  instanceId: number,
  { approvalAcr, publicUrl = '' }: GateRoutesDeps,
): void {
  if (account === undefined || approvalAcr === undefined || account.acr === approvalAcr) return
  const next = encodeURIComponent(`/ui/approvals/${instanceId}`)
  throw new AppError(
    'forbidden',
    `Reviews need a stronger sign-in (${approvalAcr}). Open ${publicUrl}/ui/sign-in/start?approval=yes&next=${next} and review again.`,
    { code: 'stronger_sign_in_required' },
  )
}

/** A reviewer. */
export interface Person {
  readonly name: string
  readonly groups: readonly string[]
}

/**
 * Returns the bearer of the token. The claimed name counts only if no credentials are configured.
 */
export function personOf(exchange: Exchange, claimed = exchange.claimedUser): Person {
  const { tokenName, groups = [] } = exchange.caller
  if (tokenName !== undefined) return { name: tokenName, groups }
  return { name: claimed ?? NOBODY, groups: [] }
}

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
