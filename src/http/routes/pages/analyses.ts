import { z } from 'zod'

import { cancelRun, listDefinitions, listRuns } from '../../../analysis/runs/analysis-operations.js'
import { readRegistration } from '../../../analysis/runs/definitions/registration.js'
import { registerCanary } from '../../../analysis/runs/register-canary.js'
import { actorOf } from '../../exchange/caller-of.js'
import { formBody } from '../../input/form-body.js'
import { numberOf } from '../../input/path-parameter.js'
import { goTo } from '../../pages/answer-page.js'
import { analysesPage } from '../../pages/analyses-page.js'
import type { ShownDefinition } from '../../pages/analyses-page.js'
import { PEOPLE } from '../../pages/layout.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const PATH = '/ui/analyses'
const MAX_LISTED = 50
const MAX_DEFINITIONS = 100
const MAX_SCORES = 12
const MAX_NAME = 1000
const ListQuery = z.looseObject({
  application: z.string().trim().max(MAX_NAME).default(''),
  state: z.enum(['RUNNING', 'COMPLETED', 'CANCELLED', '']).default(''),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional(),
})
const { route } = routesOf<PageRoutesDeps>()

/** Pages of analyses: the list, and the forms that start and cancel one. */
export const analysisPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: PEOPLE,
    summary: 'Analyses and defined applications, as a page',
    query: ListQuery,
    answer: async ({ exchange, query: { application, state, cursor } }, deps) => {
      const runs = await deps.analysis.reader.run(listRuns, {
        application: application === '' ? undefined : application,
        state: state === '' ? undefined : state,
        beforeId: cursor === undefined ? undefined : Number(cursor),
        limit: MAX_LISTED,
      })
      const last = runs.length < MAX_LISTED ? undefined : runs.at(-1)
      const isFirst = application === '' && state === '' && cursor === undefined
      const shown = {
        ...{ application, state, runs, cursor, nextCursor: last && String(last.id) },
        definitions: isFirst ? await definitionsOf(deps) : undefined,
      }
      return showPage(analysesPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: PATH,
    roles: ['admin'],
    summary: 'Start an analysis of a defined application, from the form of the page',
    body: formBody(z.object({ application: z.string().min(1).max(MAX_NAME) })),
    answer: async ({ exchange, body: { application } }, deps) => {
      const registration = readRegistration({ application })
      const { id } = await registerCanary(deps.analysis, registration, actorOf(exchange, deps.analysis))
      return goTo(`${deps.page.prefix}/ui/runs/${id}`)
    },
  }),
  route({
    ...FORM,
    path: '/ui/runs/:id/cancel',
    roles: ['admin'],
    summary: 'Cancel an analysis, from the form of its page',
    params: { id: numberOf('analysis') },
    body: formBody(z.object({})),
    answer: async ({ exchange, params: { id } }, deps) => {
      await deps.analysis.writer.run(cancelRun, { id, actor: actorOf(exchange, deps.analysis) })
      deps.analysis.forget(id)
      return goTo(`${deps.page.prefix}/ui/runs/${id}`)
    },
  }),
]

async function definitionsOf({ analysis: { reader } }: PageRoutesDeps): Promise<readonly ShownDefinition[]> {
  const definitions = await reader.run(listDefinitions, null)
  return await Promise.all(
    definitions.slice(0, MAX_DEFINITIONS).map(async (definition) => {
      const { application } = definition
      return { definition, latest: await reader.run(listRuns, { application, limit: MAX_SCORES }) }
    }),
  )
}
