import { z } from 'zod'

import type { NotedWork, SuspendedWork } from '../../../lib/work-attempts.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** What the routes of background work need. */
export interface BackgroundWorkRoutesDeps {
  readonly suspended: () => readonly SuspendedWork[]
  readonly now: () => number
  /** Takes work up again. Raises `not_found`, and what its kind raises. */
  readonly resume: (work: NotedWork, actor: ReturnType<typeof actorOf>) => Promise<void>
}

const Work = z.object({ kind: z.string(), key: z.string() })
const { route } = routesOf<BackgroundWorkRoutesDeps>()

/** `GET /backgroundWork` lists what is suspended, since it ended the service twice; `POST /backgroundWork/{kind}/{key}/resume` takes it up again. */
export const backgroundWorkRoutes = [
  route({
    method: 'GET',
    path: '/backgroundWork',
    roles: ['auditor'],
    handler: 'background_work',
    summary: 'Work that is suspended, since it ended the service twice',
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
    summary: 'Take such work up again',
    params: { kind: textOf('The kind of the work.'), key: textOf('Which work of this kind.') },
    answers: {
      200: json('The work goes on.', z.object({ resumed: Work })),
      409: { description: 'It cannot be taken up any more.' },
    },
    answer: async ({ exchange, params: { kind, key } }, deps) => {
      await deps.resume({ kind, key }, actorOf(exchange, deps))
      return jsonAnswer({ resumed: { kind, key } })
    },
  }),
]
