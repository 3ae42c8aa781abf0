import { z } from 'zod'

import { countMessages, resendMessage, showMessages } from '../../../outbox/outbox-operations.js'
import { actorOf } from '../../exchange/caller-of.js'
import { formBody } from '../../input/form-body.js'
import { numberOf } from '../../input/path-parameter.js'
import { accountPage } from '../../pages/account-page.js'
import { goTo } from '../../pages/answer-page.js'
import { POLICY_READERS } from '../../pages/layout.js'
import { operationsPage } from '../../pages/operations-page.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { statesOf } from '../about/health.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const PATH = '/ui/operations'
const MAX_LISTED = 50
const MAX_NAME = 1000
const Name = z.string().min(1).max(MAX_NAME)
const { route } = routesOf<PageRoutesDeps>()

/** Pages about the service and the viewer. */
export const operationPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: ['auditor'],
    summary: 'Health, outbox, background work and configuration, as a page',
    query: z.looseObject({
      state: z.enum(['pending', 'delivered', 'given_up', '']).default(''),
      cursor: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional(),
    }),
    answer: async ({ exchange, query: { state, cursor } }, deps) => {
      const { outbox, health, backgroundWork, policies, version, config } = deps
      const [messages, counts] = await Promise.all([
        outbox.reader.run(showMessages, {
          state: state === '' ? undefined : state,
          beforeId: cursor === undefined ? undefined : Number(cursor),
          limit: MAX_LISTED,
        }),
        outbox.reader.run(countMessages, null),
      ])
      const last = messages.length < MAX_LISTED ? undefined : messages.at(-1)
      const shown = {
        ...{ version, revision: policies.current.revision, parts: statesOf(health) },
        ...{ state, messages, counts, cursor, nextCursor: last && String(last.id) },
        suspended: backgroundWork.suspended(),
        config: exchange.caller.isAdmin ? config() : undefined,
      }
      return showPage(operationsPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: `${PATH}/outbox/:id/resend`,
    roles: ['admin'],
    summary: 'Send a message of the outbox again, from its page',
    params: { id: numberOf('message in the outbox') },
    body: formBody(z.object({})),
    answer: async ({ exchange, params: { id } }, { outbox, page }) => {
      await outbox.writer.run(resendMessage, { id, ...actorOf(exchange, outbox) })
      outbox.wake()
      return goTo(`${page.prefix}${PATH}`)
    },
  }),
  route({
    ...FORM,
    path: `${PATH}/work/resume`,
    roles: ['admin'],
    summary: 'Resume suspended work, from its page',
    body: formBody(z.object({ kind: Name, key: Name })),
    answer: async ({ exchange, body }, { backgroundWork, page }) => {
      await backgroundWork.resume(body, actorOf(exchange, backgroundWork))
      return goTo(`${page.prefix}${PATH}`)
    },
  }),
  route({
    ...PAGE,
    method: 'GET',
    path: '/ui/account',
    roles: [...POLICY_READERS, 'orchestrator'],
    summary: 'The signed-in person with roles and groups, as a page',
    answer: ({ exchange }, deps) => {
      const { tokenName, groups = [] } = exchange.caller
      const viewer = { ...viewerOf(exchange, deps), isAnonymous: tokenName === undefined }
      return showPage(accountPage(groups, viewer), exchange, deps)
    },
  }),
]
