import { listRuns } from '../../../analysis/runs/analysis-operations.js'
import { executionTimeline } from '../../../audit/execution-timeline.js'
import { readExecutionFacts } from '../../../events/execution-facts.js'
import { listInstances } from '../../../gates/instances/list-instances.js'
import { textOf } from '../../input/path-parameter.js'
import { executionPage } from '../../pages/execution-page.js'
import { PEOPLE } from '../../pages/layout.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const MAX_LISTED = 50

/** The page of an execution. */
export const executionPageRoutes = [
  routesOf<PageRoutesDeps>().route({
    ...PAGE,
    method: 'GET',
    path: '/ui/executions/:id',
    roles: PEOPLE,
    summary: 'An execution with its timeline, as a page',
    params: { id: textOf('Id of the execution.') },
    answer: async ({ exchange, params: { id } }, deps) => {
      const { reader, now } = deps.gates
      const nowMs = now()
      const [timeline, subject, { instances }, runs] = await Promise.all([
        executionTimeline(deps.timeline, id),
        reader.run(readExecutionFacts, id),
        reader.run(listInstances, { executionId: id, order: 'newest', limit: MAX_LISTED, nowMs }),
        deps.analysis.reader.run(listRuns, { executionId: id, limit: MAX_LISTED }),
      ])
      const shown = { timeline, subject, instances, runs, nowMs }
      return showPage(executionPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
]
