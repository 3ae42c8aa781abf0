import { afterEach, expect, test } from 'vitest'

import { ReadingOutage } from '../../../src/analysis/runs/reading-outage.js'
import { AppError } from '../../../src/errors/app-error.js'
import type { AnalysisRoutesDeps } from '../../../src/http/routes/analysis/analysis-deps.js'
import { autopilotRoutes } from '../../../src/http/routes/analysis/autopilot.js'
import { ask, objectOf } from '../../support/http-client.js'
import { startRoutesServer } from '../../support/routes-server.js'
import type { RoutesServer } from '../../support/routes-server.js'

let server: RoutesServer | undefined
afterEach(async () => {
  await server?.stop(0)
})

test('a status that cannot be read has all members, and says why, so that it is asked for again', async () => {
  const failure = new AppError('unavailable', 'the disk is full', { code: 'store_full' })
  const reader = { run: () => Promise.reject(failure) }
  const deps = { reader, outage: new ReadingOutage(), now: () => 0 } as unknown as AnalysisRoutesDeps
  server = await startRoutesServer(
    autopilotRoutes.map((route) => route.bind(deps)),
    {},
  )
  const answer = await ask(server.url, { path: '/autopilot/canaries/7' })
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
  expect(objectOf(answer)).toMatchObject({
    code: 'store_full',
    message: 'the disk is full',
    id: '7',
    status: { status: 'RUNNING', complete: false },
  })
  expect(server.finished[0]?.failure).toBe(failure)
})
