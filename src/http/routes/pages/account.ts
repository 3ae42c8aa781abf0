import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import type { ErrorKind } from '../../../errors/app-error.js'
import { listDelegations } from '../../../gates/instances/delegations.js'
import { isSamePerson } from '../../../lib/text/same-person.js'
import { hasRole } from '../../exchange/caller-of.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { formBody } from '../../input/form-body.js'
import { numberOf, textOf } from '../../input/path-parameter.js'
import { accountPage } from '../../pages/account-page.js'
import type { RefusedDelegation, ShownDelegations } from '../../pages/account-page.js'
import { goTo } from '../../pages/answer-page.js'
import { PEOPLE, SIGNED_IN } from '../../pages/layout.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { DelegationBody, MAX_DAYS, delegateByCaller, revokeByCaller } from '../gates/delegations.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import { revokeSession, sessionsFor } from './sessions.js'

const PATH = '/ui/account'
const { route } = routesOf<PageRoutesDeps>()

/** The page of the viewer: roles, delegations and sessions. */
export const accountPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: SIGNED_IN,
    summary: 'The signed-in person with roles, groups, delegations and sessions, as a page',
    answer: ({ exchange }, deps) => answerAccount(exchange, deps),
  }),
  route({
    ...FORM,
    path: `${PATH}/sessions/:id/revoke`,
    roles: SIGNED_IN,
    summary: 'End a session, from its page',
    params: { id: textOf('Id of the session.') },
    body: formBody(z.object({})),
    answer: async ({ exchange, params: { id } }, deps) => {
      await revokeSession(exchange, id, deps)
      return goTo(`${deps.page.prefix}${PATH}`)
    },
  }),
  route({
    ...FORM,
    path: `${PATH}/delegations`,
    roles: ['approver'],
    summary: 'Give your rights as an approver to another person, from its page',
    body: formBody(DelegationBody),
    answer: async ({ exchange, body }, deps) => {
      try {
        await delegateByCaller(exchange, body, deps.gates)
      } catch (raw) {
        if (!(raw instanceof AppError) || !SHOWN_ON_FORM.includes(raw.kind)) throw raw
        exchange.failure = raw
        return await answerAccount(exchange, deps, { ...body, problem: raw })
      }
      return goTo(`${deps.page.prefix}${PATH}`)
    },
  }),
  route({
    ...FORM,
    path: `${PATH}/delegations/:id/revoke`,
    roles: ['approver'],
    summary: 'Withdraw a delegation that you gave or got, from its page',
    params: { id: numberOf('delegation') },
    body: formBody(z.object({})),
    answer: async ({ exchange, params: { id } }, deps) => {
      await revokeByCaller(exchange, id, deps.gates)
      return goTo(`${deps.page.prefix}${PATH}`)
    },
  }),
]

/** Errors of a delegation that its form shows, with the typed text. */
const SHOWN_ON_FORM: readonly ErrorKind[] = ['invalid', 'conflict', 'unavailable']

async function answerAccount(
  exchange: Exchange,
  deps: PageRoutesDeps,
  refused?: Omit<RefusedDelegation, 'problem'> & { readonly problem: AppError },
): Promise<Response> {
  const { tokenName, groups = [] } = exchange.caller
  const viewer = { ...viewerOf(exchange, deps), isAnonymous: tokenName === undefined }
  const [sessions, delegations] = await Promise.all([
    tokenName === undefined ? [] : sessionsFor(exchange, deps),
    delegationsFor(exchange, deps),
  ])
  const shown = {
    ...{ groups, sessions, delegations, nowMs: deps.gates.now() },
    refused: refused && { ...refused, problem: refused.problem.message },
  }
  const status = refused === undefined ? 200 : errorAnswer(refused.problem).status
  return await showPage(accountPage(shown, viewer), exchange, deps, { status })
}

/** The delegations of an approver, and all of them for those who may read them. */
async function delegationsFor(
  { caller }: Exchange,
  { gates: { reader, now } }: PageRoutesDeps,
): Promise<ShownDelegations | undefined> {
  const { tokenName, isAdmin } = caller
  if (tokenName === undefined || !PEOPLE.some((role) => hasRole(caller, role))) return undefined
  const mayGive = hasRole(caller, 'approver')
  const all = await reader.run(listDelegations, { nowMs: now() })
  return {
    ...{ mayGive, maxDays: MAX_DAYS },
    listed: all.map((delegation) => ({
      ...delegation,
      mayRevoke:
        isAdmin ||
        (mayGive && [delegation.from, delegation.to].some((name) => isSamePerson(name, tokenName))),
    })),
  }
}
