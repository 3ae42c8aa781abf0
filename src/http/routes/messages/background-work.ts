import { z } from 'zod'

import type { NotedWork } from '../../../lib/work-journal.js'
import type { SuspendedWork } from '../../../lib/work-attempts.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
export interface BackgroundWorkRoutesDeps {
  readonly suspended: () => readonly SuspendedWork[]
  readonly now: () => number
  /** Resumes suspended work. Raises `not_found` and the errors of the work's kind. */
  readonly resume: (work: NotedWork, actor: ReturnType<typeof actorOf>) => Promise<void>
}

const Work = z.object({ kind: z.string(), key: z.string() })
const { route } = routesOf<BackgroundWorkRoutesDeps>()

/**
 * `GET /backgroundWork` lists work that was suspended after it ended the service twice; `POST
 * /backgroundWork/{kind}/{key}/resume` resumes it.
 */
export const backgroundWorkRoutes = [
  route({
    method: 'GET',
    path: '/backgroundWork',
    roles: ['auditor'],
    handler: 'background_work',
    summary: 'Work that was suspended after it ended the service twice',
    answers: {
      200: json('The work.', z.object({ setAside: z.array(Work.extend({ reason: z.string() })) })),
    },
    answer: (_, deps) => jsonAnswer({ setAside: deps.suspended() }),
  }),
  route({
    method: 'POST',
    path: '/backgroundWork/:kind/:key/resume',
    roles: ['admin'],
    handler: 'background_work',
    summary: 'Resume suspended work',
    params: { kind: textOf('Kind of the work.'), key: textOf('Key of the work.') },
    answers: {
      200: json('The work was resumed.', z.object({ resumed: Work })),
      409: { description: 'The work can no longer be resumed.' },
    },
    answer: async ({ exchange, params: { kind, key } }, deps) => {
      await deps.resume({ kind, key }, actorOf(exchange, deps))
      return jsonAnswer({ resumed: { kind, key } })
    },
  }),
]
