import { z } from 'zod'

import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

export interface NotificationRoutesDeps {
  readonly channels: readonly {
    readonly name: string
    readonly type: string
    readonly events: readonly string[]
  }[]
  /**
   * Sends the test messages of a channel, one for each recipient. Returns why each failed, undefined
   * for a delivered one. Raises `not_found`.
   */
  readonly test: (channel: string, user: string | undefined) => Promise<readonly (string | undefined)[]>
}

const Channels = z.object({
  channels: z.array(z.object({ name: z.string(), type: z.string(), events: z.array(z.string()) })),
})
const Tested = z.object({
  channel: z.string(),
  delivered: z.int().describe('Number of delivered messages.'),
  problems: z.array(z.string()).describe('Why others were not delivered.'),
})
const { route } = routesOf<NotificationRoutesDeps>()

/** `GET /notifications` lists channels; `POST /notifications/{channel}/test` tries one. */
export const notificationRoutes = [
  route({
    method: 'GET',
    path: '/notifications',
    roles: ['auditor'],
    handler: 'notifications',
    summary: 'Channels of notifications with the events that go to them',
    answers: { 200: json('All channels.', Channels) },
    answer: (_, { channels }) => jsonAnswer({ channels }),
  }),
  route({
    method: 'POST',
    path: '/notifications/:channel/test',
    roles: ['admin'],
    handler: 'notifications',
    summary: 'Send a test message to a channel',
    params: { channel: textOf('Name of the channel.') },
    answers: { 200: json('Whether it was delivered.', Tested) },
    answer: async ({ exchange, params: { channel } }, { test }) => {
      const results = await test(channel, exchange.callerName)
      const problems = results.filter((problem) => problem !== undefined)
      return jsonAnswer({ channel, delivered: results.length - problems.length, problems })
    },
  }),
]
