import { z } from 'zod'

import { recordRevokedSession } from '../../../audit/record-revoked-session.js'
import type { ListedSession } from '../../../store/ports/browser-sessions.js'
import { AppError } from '../../../errors/app-error.js'
import { actorOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { SIGNED_IN } from '../../pages/layout.js'
import { Time, json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { PageRoutesDeps } from './page-route.js'

const SessionAnswer = z.object({
  id: z.string(),
  name: z.string().describe('Name of the token or account.'),
  isAccount: z.boolean().describe('True for an account at an identity provider.'),
  signedInAt: Time,
  usedAt: Time,
})
const { route } = routesOf<PageRoutesDeps>()

/** Browsers that are signed in: a person sees the own ones, an admin those of everybody. */
export const sessionRoutes = [
  route({
    method: 'GET',
    path: '/sessions',
    roles: SIGNED_IN,
    handler: 'sessions',
    summary: 'Your signed-in browsers, for an admin those of everybody',
    answers: { 200: json('All sessions.', z.object({ sessions: z.array(SessionAnswer) })) },
    answer: async ({ exchange }, deps) => {
      const sessions = await sessionsFor(exchange, deps)
      const nowMs = deps.gates.now()
      return jsonAnswer({ sessions: sessions.map((session) => sessionView(session, nowMs)) })
    },
  }),
  route({
    method: 'DELETE',
    path: '/sessions/:id',
    roles: SIGNED_IN,
    handler: 'sessions',
    summary: 'End a session',
    params: { id: textOf('Id of the session.') },
    answers: { 200: json('The session, which has ended.', SessionAnswer) },
    answer: async ({ exchange, params: { id } }, deps) => {
      const session = await revokeSession(exchange, id, deps)
      return jsonAnswer(sessionView({ ...session, id }, deps.gates.now()))
    },
  }),
]

/** Sessions that the caller may see and end. */
export function sessionsFor(
  exchange: Exchange,
  { browsers }: PageRoutesDeps,
): ReturnType<PageRoutesDeps['browsers']['sessionsOf']> {
  return browsers.sessionsOf(exchange, ownName(exchange))
}

/** Ends a session and records it. Raises `not_found`. */
export async function revokeSession(
  exchange: Exchange,
  id: string,
  { browsers, gates }: PageRoutesDeps,
): Promise<ListedSession> {
  const session = await browsers.revoke(exchange, id, ownName(exchange))
  await gates.writer.run(recordRevokedSession, { name: session.tokenName, id, ...actorOf(exchange, gates) })
  return session
}

/**
 * Undefined for an admin, and where nobody signs in. Raises `forbidden` for a caller without a name
 * (`auth.openToOrchestrator`), because sessions have one.
 */
function ownName({ caller: { isAdmin, tokenName } }: Exchange): string | undefined {
  if (isAdmin) return undefined
  if (tokenName !== undefined) return tokenName
  throw new AppError('forbidden', 'sessions need a token or an account', { code: 'name_required' })
}

function sessionView(
  { id, tokenName, isAccount, ageMs, idleMs }: ListedSession & { readonly id: string },
  nowMs: number,
): object {
  return {
    ...{ id, name: tokenName, isAccount },
    signedInAt: new Date(nowMs - ageMs).toISOString(),
    usedAt: new Date(nowMs - idleMs).toISOString(),
  }
}
